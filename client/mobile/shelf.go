package mobile

import (
	"errors"
	"io"
	"sync"

	"github.com/zofl/zofl/client"
)

// A shelf is a Store that is open only while the client needs it, so that a client
// which does not run holds no lock.
type shelf struct {
	dir string

	mu    sync.Mutex   // guards store
	store client.Store // nil: closed
}

var errShelf = errors.New("the StateDir is closed")

// open opens the directory until close is called.
func (s *shelf) open() error {
	store, err := client.OpenStore(s.dir)
	if err != nil {
		return &fault{storeCode(err), err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store = store
	return nil
}

func storeCode(err error) string {
	if errors.Is(err, client.ErrStoreLocked) {
		return CodeLocked
	}
	return CodeStore
}

func (s *shelf) use(f func(client.Store) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return errShelf
	}
	return f(s.store)
}

func (s *shelf) Save(item string, write func(io.Writer) error) error {
	return s.use(func(store client.Store) error { return store.Save(item, write) })
}

func (s *shelf) Load(item string, read func(*io.SectionReader) error) error {
	return s.use(func(store client.Store) error { return store.Load(item, read) })
}

func (s *shelf) SetAside(item string) error {
	return s.use(func(store client.Store) error { return store.SetAside(item) })
}

// Close closes the directory; open opens it again.
func (s *shelf) Close() error {
	return s.use(func(store client.Store) error {
		s.store = nil
		return store.Close()
	})
}
