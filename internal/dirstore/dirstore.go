// Package dirstore keeps named items of bytes in a folder. After a power cut, each item is whole:
// the old or the new one. A device uses a Store as its [client.Store]; simulations open a Store on
// a simulated file system.
//
// [client.Store]: https://pkg.go.dev/github.com/zofl/zofl/client#Store
package dirstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/internal/disk"
)

// ErrLocked: another process has the store open. Two devices need two stores.
var ErrLocked = errors.New("store is in use by another process")

// asideEnd is the suffix that SetAside adds to the name of an item's file.
const asideEnd = ".bad"

// A Store is a folder with a file for each item, and a lock.
type Store struct {
	fs   disk.FS
	dir  string
	lock io.Closer
}

// Open opens the store in a folder of a file system, and creates the folder if there is none. An
// error matches [ErrLocked], or comes from the file system.
func Open(fsys disk.FS, dir string) (*Store, error) {
	s := &Store{fs: fsys, dir: dir}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("store %s: %w", dir, err), s.unlock())
	}
	return s, nil
}

// open locks the folder, removes unfinished files, and syncs the folder. The sync is needed because
// a killed process may have left a name that is not on the disk yet.
func (s *Store) open() error {
	if err := disk.MakeDir(s.fs, s.dir); err != nil {
		return err
	}
	lock, err := s.fs.Lock(s.path("store.lock"))
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("%w: end that one, or give each device a folder of its own: %w", ErrLocked, err)
	}
	if err != nil {
		return err
	}
	s.lock = lock
	if err := disk.RemoveUnfinished(s.fs, s.dir); err != nil {
		return err
	}
	return s.fs.SyncDir(s.dir)
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// checkItem returns an error if an item's name is invalid. A valid name differs from the names of
// the store's other files, even on file systems that ignore case.
func checkItem(item string) error {
	bad := len(item) == 0 || len(item) > 32
	for _, c := range []byte(item) {
		bad = bad || !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_')
	}
	if bad {
		return fmt.Errorf("item %q is not 1 to 32 of a-z 0-9 - _", item)
	}
	return nil
}

// Save implements client.Store.
func (s *Store) Save(item string, write func(io.Writer) error) error {
	err := checkItem(item)
	if err == nil {
		err = disk.Replace(s.fs, s.path(item), write)
	}
	return storeError("save", item, err)
}

// Load implements client.Store.
func (s *Store) Load(item string, read func(*io.SectionReader) error) error {
	err := checkItem(item)
	if err == nil {
		err = s.load(item, read)
	}
	return storeError("load", item, err)
}

func (s *Store) load(item string, read func(*io.SectionReader) error) error {
	file, err := s.fs.Open(s.path(item), os.O_RDONLY)
	if err != nil {
		return err
	}
	size, err := file.Size()
	if err == nil {
		err = read(io.NewSectionReader(file, 0, size))
	}
	return errors.Join(err, file.Close())
}

// SetAside implements client.Store.
func (s *Store) SetAside(item string) error {
	err := checkItem(item)
	if err == nil {
		err = s.fs.Rename(s.path(item), s.path(item+asideEnd))
	}
	if err == nil {
		err = s.fs.SyncDir(s.dir)
	}
	return storeError("set aside", item, err)
}

// Close implements client.Store.
func (s *Store) Close() error {
	if err := s.unlock(); err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	return nil
}

func (s *Store) unlock() error {
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// storeError adds to err the operation that failed and the item. Errors of the file system already
// give the path.
func storeError(did, item string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", did, item, err)
}
