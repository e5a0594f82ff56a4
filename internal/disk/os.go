package disk

import (
	"io"
	"os"
)

type system struct{}

func (system) Mkdir(path string) error             { return os.Mkdir(path, 0o700) }
func (system) Rename(from, to string) error        { return os.Rename(from, to) }
func (system) Remove(path string) error            { return os.Remove(path) }
func (system) SyncDir(path string) error           { return syncDir(path) }
func (system) Lock(path string) (io.Closer, error) { return lock(path) }

func (system) Open(path string, flag int) (File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return &file{File: f}, nil
}

func (system) ReadDir(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// A file is an open file. One goroutine at a time calls Mark.
type file struct {
	*os.File
	own os.FileInfo // which file it is, once Mark has looked
}

func (f *file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f *file) Mark() (Mark, error) {
	info, err := os.Stat(f.Name())
	if err == nil && f.own == nil {
		f.own, err = f.Stat()
	}
	switch {
	case err != nil:
		return Mark{}, err
	case !os.SameFile(info, f.own):
		return Mark{}, &os.PathError{Op: "stat", Path: f.Name(), Err: ErrReplaced}
	}
	return Mark{Size: info.Size(), Changed: info.ModTime().UnixNano()}, nil
}
