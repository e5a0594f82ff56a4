// Package devicedir stores the state of a device in a directory that the device opens only while it
// trains.
package devicedir

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/zofl/zofl/client"
)

// A Dir is a Store that is open only while the client needs it, so that a client that
// does not run holds no lock.
//
// Invariant: before a Dir saves an item, it writes a signature to the directory: a random name that
// is new each time the Dir opens the directory.
type Dir struct {
	dir string

	mu      sync.Mutex   // guards what follows
	store   client.Store // nil: closed
	user    string       // the last signature that this Dir knows; "": none
	signed  bool         // this Dir has signed since it was opened
	changed bool
}

var _ client.SharedStore = (*Dir)(nil)

// ErrClosed reports that the directory is not open.
var ErrClosed = errors.New("the StateDir is closed")

// New returns the store in a directory, closed.
func New(dir string) *Dir { return &Dir{dir: dir} }

// Open opens the directory until Close is called. Errors are those of [client.OpenStore].
func (s *Dir) Open() error {
	store, err := client.OpenStore(s.dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store, s.signed = store, false
	user, err := s.lastUser()
	s.changed = s.changed || user != s.user || err != nil
	s.user = user
	return nil
}

// itemUser is the item that holds the signature of the Dir that saved last.
const itemUser = "user"

func (s *Dir) lastUser() (name string, err error) {
	err = s.store.Load(itemUser, func(r *io.SectionReader) error {
		b, err := io.ReadAll(io.LimitReader(r, 64)) // rand.Text is shorter
		name = string(b)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return name, err
}

// sign writes a new signature, unless this Dir has signed since it was opened.
func (s *Dir) sign() error {
	if s.signed {
		return nil
	}
	name := rand.Text()
	err := s.store.Save(itemUser, func(w io.Writer) error {
		_, err := io.WriteString(w, name)
		return err
	})
	if err == nil {
		s.user, s.signed = name, true
	}
	return err
}

// Changed reports whether another Dir has saved an item in the directory since the last call of
// Changed.
func (s *Dir) Changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.changed
	s.changed = false
	return changed
}

func (s *Dir) use(f func(client.Store) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return ErrClosed
	}
	return f(s.store)
}

// Save is [client.Store]'s; on a closed directory it returns [ErrClosed].
func (s *Dir) Save(item string, write func(io.Writer) error) error {
	return s.use(func(store client.Store) error {
		if err := s.sign(); err != nil {
			return err
		}
		return store.Save(item, write)
	})
}

// Load is [client.Store]'s; on a closed directory it returns [ErrClosed].
func (s *Dir) Load(item string, read func(*io.SectionReader) error) error {
	return s.use(func(store client.Store) error { return store.Load(item, read) })
}

// SetAside is [client.Store]'s; on a closed directory it returns [ErrClosed].
func (s *Dir) SetAside(item string) error {
	return s.use(func(store client.Store) error { return store.SetAside(item) })
}

// Close closes the directory; Open opens it again.
func (s *Dir) Close() error {
	return s.use(func(store client.Store) error {
		s.store = nil
		return store.Close()
	})
}
