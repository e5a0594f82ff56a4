package main

import (
	"slices"
	"sync"
)

// A list grows from any goroutine.
type list[T any] struct {
	mu    sync.Mutex // guards items
	items []T
}

func (l *list[T]) add(item T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, item)
}

func (l *list[T]) all() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.items)
}
