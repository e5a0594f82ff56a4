// Package shelf keeps a client's files in the app's store, and tells the app once when
// the store fails. It knows how a file names its owner and proves itself whole, and
// nothing of what the files mean.
package shelf

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// ErrStore: the store could not be written or read, or held what could not be used.
var ErrStore = errors.New("store")

// A Store keeps items of bytes by name; see client.Store.
type Store interface {
	Save(item string, write func(io.Writer) error) error
	Load(item string, read func(*io.SectionReader) error) error
	SetAside(item string) error
}

// Config is what a shelf needs.
type Config struct {
	Store   Store // nil: nothing is kept
	Run, ID string
	Logger  *slog.Logger
	// Report tells the app of a fault; its error ends Run.
	Report func(error) error
}

// A Shelf is a client's side of its store.
//
// The goroutine of Run owns it. Another goroutine may only call Use.
type Shelf struct {
	cfg     Config
	failing map[string]bool // items whose last use failed; the app was told once

	mu sync.Mutex // held during each use of the store
}

// New returns a shelf.
func New(cfg Config) *Shelf { return &Shelf{cfg: cfg, failing: map[string]bool{}} }

// Keeps says whether there is a store.
func (s *Shelf) Keeps() bool { return s.cfg.Store != nil }

// Use calls f with the store while nobody else uses it. A shelf that keeps nothing must
// not be used.
func (s *Shelf) Use(f func(Store) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s.cfg.Store)
}

// Save replaces an item by what write writes.
func (s *Shelf) Save(item string, write func(io.Writer) error) error {
	return s.Use(func(store Store) error { return store.Save(item, write) })
}

// Load calls read with an item; the error matches fs.ErrNotExist if there is none.
func (s *Shelf) Load(item string, read func(*io.SectionReader) error) error {
	return s.Use(func(store Store) error { return store.Load(item, read) })
}

// Failing says whether the last use of an item failed.
func (s *Shelf) Failing(item string) bool { return s.failing[item] }

// Check takes the result of a use of an item. It tells the app of the first failure, and
// says nothing more until the item works again. The error is the app's.
func (s *Shelf) Check(item string, err error) error {
	switch {
	case err == nil && s.failing[item]:
		delete(s.failing, item)
		s.cfg.Logger.Info("the store works again", "item", item)
	case err != nil && !s.failing[item]:
		s.failing[item] = true
		s.cfg.Logger.Error("the store failed, going on in memory", "item", item, "err", err)
		return s.cfg.Report(fmt.Errorf("%w: %s: %w", ErrStore, item, err))
	}
	return nil
}

// Discard sets aside an item that cannot be used, and tells the app. The error is the
// app's.
func (s *Shelf) Discard(item string, fault error) error {
	err := s.Use(func(store Store) error { return store.SetAside(item) })
	if err != nil {
		fault = fmt.Errorf("%w; setting it aside: %w", fault, err)
	}
	s.cfg.Logger.Error("set aside", "item", item, "err", fault)
	return s.cfg.Report(fmt.Errorf("%w: %s set aside: %w", ErrStore, item, fault))
}
