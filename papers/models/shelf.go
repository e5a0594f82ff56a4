package models

import "sync"

// A Shelf keeps the working memory of a call for the next call. A Shelf comes to hold as many
// items as calls ran at the same time. Unlike the items of a sync.Pool, the items of a Shelf
// survive garbage collections, so that later calls allocate nothing.
type Shelf[T any] struct {
	mu   sync.Mutex // guards free
	free []*T
}

// Take returns an item that no other call uses, from the shelf or a new one.
func (s *Shelf[T]) Take(make func() *T) *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		t := s.free[last]
		s.free = s.free[:last]
		return t
	}
	return make()
}

// Put returns t to the shelf, for a later Take.
func (s *Shelf[T]) Put(t *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, t)
}
