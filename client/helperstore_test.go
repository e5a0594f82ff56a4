package client_test

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/zofl/zofl/client"
)

// A memStore is a Store in memory that a test controls.
type memStore struct {
	t     testing.TB
	inUse sync.Mutex

	mu    sync.Mutex // guards what follows
	items map[string][]byte
	aside map[string][]byte
	saved []string          // items, in order
	full  map[string]error  // errors for items that the store does not save
	dead  bool              // the process was killed: the store drops what the process saves
	saves func(item string) // the store calls saves before each Save
}

var _ client.Store = (*memStore)(nil)

func newStore(t testing.TB) *memStore {
	return &memStore{t: t, items: map[string][]byte{}, aside: map[string][]byte{},
		full: map[string]error{}}
}

// use fails the test if two calls run at once.
func (s *memStore) use() (done func()) {
	if !s.inUse.TryLock() {
		s.t.Error("two uses of the store at once")
		return func() {}
	}
	return s.inUse.Unlock
}

func (s *memStore) Save(item string, write func(io.Writer) error) error {
	defer s.use()()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saves != nil {
		s.saves(item)
	}
	switch {
	case s.dead:
	case s.full[item] != nil:
		s.saved = append(s.saved, item+" failed")
		return s.full[item]
	default:
		s.items[item] = b.Bytes()
		s.saved = append(s.saved, item)
	}
	return nil
}

func (s *memStore) Load(item string, read func(*io.SectionReader) error) error {
	defer s.use()()
	s.mu.Lock()
	b, ok := s.items[item]
	s.mu.Unlock()
	if !ok {
		return fs.ErrNotExist
	}
	return read(io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b))))
}

func (s *memStore) SetAside(item string) error {
	defer s.use()()
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.items[item]
	if !ok {
		return fs.ErrNotExist
	}
	if !s.dead {
		s.aside[item] = b
		delete(s.items, item)
	}
	return nil
}

func (s *memStore) Close() error { return nil }

// kill makes the store drop later saves, and returns the store that the next process opens.
func (s *memStore) kill() *memStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
	next := newStore(s.t)
	next.items, next.aside = maps.Clone(s.items), maps.Clone(s.aside)
	return next
}

// fails makes saves of items fail; no items: all saves work.
func (s *memStore) fails(err error, items ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.full)
	for _, item := range items {
		s.full[item] = err
	}
}

// get returns an item.
func (s *memStore) get(item string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.items[item])
}

func (s *memStore) put(item string, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[item] = b
}

func (s *memStore) isAside(item string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.aside[item]
	return ok
}

// took returns the items saved since the last call.
func (s *memStore) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	saved := s.saved
	s.saved = nil
	return saved
}

// count returns how often an item occurs in a list.
func count(items []string, item string) int {
	n := 0
	for _, s := range items {
		if s == item {
			n++
		}
	}
	return n
}

// with configures a store.
func with(s *memStore) func(*client.Config) {
	return func(c *client.Config) { c.Store = s }
}

// killed stops a device as SIGKILL does: the store drops all that the device saves from now on.
// killed returns the store that the next process opens.
func (d *device) killed(s *memStore) *memStore {
	d.t.Helper()
	next := s.kill()
	d.stop()
	return next
}
