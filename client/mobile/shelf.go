package mobile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"sync"

	"github.com/zofl/zofl/client"
)

// A shelf is a Store that is open only while the client needs it, so that a client
// which does not run holds no lock.
type shelf struct {
	dir string

	mu      sync.Mutex   // guards what follows
	store   client.Store // nil: closed
	name    []byte       // by which this shelf tells what it left from what others did
	changed bool
}

var _ client.SharedStore = (*shelf)(nil)

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
	if !s.ours() {
		s.changed = true
		s.sign()
	}
	return nil
}

// itemUser has the name of the shelf that used the directory last.
const itemUser = "user"

// ours says whether no other shelf used the directory since this one did.
func (s *shelf) ours() bool {
	found := make([]byte, 16)
	err := s.store.Load(itemUser, func(r *io.SectionReader) error {
		_, err := io.ReadFull(r, found)
		return err
	})
	return err == nil && bytes.Equal(found, s.name)
}

// sign says that this shelf uses the directory. Where it cannot, the next time looks
// like another's: that costs reading what there is.
func (s *shelf) sign() {
	s.name = make([]byte, 16)
	rand.Read(s.name)
	_ = s.store.Save(itemUser, func(w io.Writer) error {
		_, err := w.Write(s.name)
		return err
	})
}

// Changed says whether another shelf used the directory since it was asked last.
func (s *shelf) Changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.changed
	s.changed = false
	return changed
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
