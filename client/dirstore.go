package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/internal/disk"
)

// asideEnd ends the name of an item that was set aside.
const asideEnd = ".bad"

// A dirStore is a [Store] in a folder: a file for each item, and a lock.
type dirStore struct {
	fs   disk.FS
	dir  string
	lock io.Closer
}

// OpenStore opens the store in a folder of its own, and makes that if there is
// none. Each item is a file of its name; one that was set aside has ".bad"
// added. Saving needs room for the old and the new item.
//
// Names of items have 1 to 32 of a-z 0-9 - _. Errors match [ErrStoreLocked], or
// are those of the file system.
func OpenStore(dir string) (Store, error) { return OpenStoreOn(disk.OS, dir) }

// OpenStoreOn is [OpenStore] on another file system, for tests and simulations.
func OpenStoreOn(fsys disk.FS, dir string) (Store, error) {
	s := &dirStore{fs: fsys, dir: dir}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("client: store %s: %w", dir, err), s.unlock())
	}
	return s, nil
}

// open makes durable what there is: a process that was killed may have left a
// name that was not.
func (s *dirStore) open() error {
	if err := disk.MakeDir(s.fs, s.dir); err != nil {
		return err
	}
	lock, err := s.fs.Lock(s.path("store.lock"))
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("%w: end that one, or give each device a folder of its own: %w", ErrStoreLocked, err)
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

func (s *dirStore) path(name string) string { return filepath.Join(s.dir, name) }

// checkItem keeps items apart from the store's other files, on file systems
// too that do not tell A from a.
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

// Save implements [Store].
func (s *dirStore) Save(item string, write func(io.Writer) error) error {
	err := checkItem(item)
	if err == nil {
		err = disk.Replace(s.fs, s.path(item), write)
	}
	return storeError("save", item, err)
}

// Load implements [Store].
func (s *dirStore) Load(item string, read func(*io.SectionReader) error) error {
	err := checkItem(item)
	if err == nil {
		err = s.load(item, read)
	}
	return storeError("load", item, err)
}

func (s *dirStore) load(item string, read func(*io.SectionReader) error) error {
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

// SetAside implements [Store].
func (s *dirStore) SetAside(item string) error {
	err := checkItem(item)
	if err == nil {
		err = s.fs.Rename(s.path(item), s.path(item+asideEnd))
	}
	if err == nil {
		err = s.fs.SyncDir(s.dir)
	}
	return storeError("set aside", item, err)
}

// Close implements [Store].
func (s *dirStore) Close() error {
	if err := s.unlock(); err != nil {
		return fmt.Errorf("client: store %s: %w", s.dir, err)
	}
	return nil
}

func (s *dirStore) unlock() error {
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// storeError says what was done to an item; errors of the file system say where.
func storeError(did, item string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", did, item, err)
}
