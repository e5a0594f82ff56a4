// Package files keeps a client's files in the app's store, and reports once when the store fails.
// The package knows how a file names its device, and how a reader checks that the file is complete.
// The package does not know the meaning of the files.
package files

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// ErrStore says that writing or reading the store failed, or that an item in the store was
// unusable.
var ErrStore = errors.New("store")

// A Store keeps named items of bytes; client.Store documents its methods.
type Store interface {
	Save(item string, write func(io.Writer) error) error
	Load(item string, read func(*io.SectionReader) error) error
	SetAside(item string) error
}

// Config holds what a keeper needs.
type Config struct {
	Store   Store
	Run, ID string
	Logger  *slog.Logger
	// Report reports a fault to the app. An error of Report ends Run.
	Report func(error) error
}

// A Keeper is a client's side of its store. A client without a store has a nil Keeper.
//
// The goroutine of Run owns a Keeper. Another goroutine may only call Use.
type Keeper struct {
	cfg     Config
	failing map[string]bool // items whose last use failed; the keeper has reported each

	mu sync.Mutex // held during each use of the store
}

// New returns a keeper.
func New(cfg Config) *Keeper { return &Keeper{cfg: cfg, failing: map[string]bool{}} }

// Use calls f with the store while no other goroutine uses it.
func (s *Keeper) Use(f func(Store) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s.cfg.Store)
}

// Save replaces an item with the bytes that write writes.
func (s *Keeper) Save(item string, write func(io.Writer) error) error {
	return s.Use(func(store Store) error { return store.Save(item, write) })
}

// Load calls read with an item. The error matches fs.ErrNotExist if there is no such item.
func (s *Keeper) Load(item string, read func(*io.SectionReader) error) error {
	return s.Use(func(store Store) error { return store.Load(item, read) })
}

// Failing says whether the last use of an item failed.
func (s *Keeper) Failing(item string) bool { return s.failing[item] }

// Check handles the result of a use of an item. Check reports the first failure, and no other
// failure until the item works again. An error of Check is an error of Report.
func (s *Keeper) Check(item string, err error) error {
	switch {
	case err == nil && s.failing[item]:
		delete(s.failing, item)
		s.cfg.Logger.Info("store works again", "item", item)
	case err != nil && !s.failing[item]:
		s.failing[item] = true
		s.cfg.Logger.Error("store failed, going on in memory", "item", item, "err", err)
		return s.cfg.Report(fmt.Errorf("%w: %s: %w", ErrStore, item, err))
	}
	return nil
}

// Discard sets aside an unusable item, and reports that. An error of Discard is an error of Report.
func (s *Keeper) Discard(item string, fault error) error {
	err := s.Use(func(store Store) error { return store.SetAside(item) })
	if err != nil {
		fault = fmt.Errorf("%w; setting it aside: %w", fault, err)
	}
	s.cfg.Logger.Error("unusable item set aside", "item", item, "err", fault)
	return s.cfg.Report(fmt.Errorf("%w: %s set aside: %w", ErrStore, item, fault))
}
