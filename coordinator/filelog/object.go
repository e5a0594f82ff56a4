package filelog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/plan"
)

var _ runlog.Objects = (*Log)(nil)

// object returns the path of a vector's file.
func (f *Log) object(name runlog.ObjectName) string {
	return filepath.Join(f.path("objects"), name.String())
}

// settleObjects removes the files of vectors that a crash left unfinished.
func (f *Log) settleObjects() error {
	err := disk.RemoveUnfinished(f.fs, f.path("objects"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no vector was ever stored
	}
	return err
}

// PutObject implements [runlog.Objects] with a file in the folder objects. PutObject rewrites an
// existing file, because the bytes of that file may be only in the page cache.
func (f *Log) PutObject(_ context.Context, name runlog.ObjectName, data []byte) error {
	if f.fixed {
		return errFixed
	}
	if f.stored == name {
		return nil
	}
	err := f.unchanged()
	if err == nil && !f.folder {
		err = disk.MakeDir(f.fs, f.path("objects"))
		f.folder = err == nil
	}
	if err == nil {
		err = disk.Replace(f.fs, f.object(name), func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	if err != nil {
		f.folder = false // somebody may have removed it
		return fmt.Errorf("log: vector of record %d: %w", name.N, err)
	}
	f.stored = name
	return nil
}

// Object implements [runlog.Objects].
func (f *Log) Object(_ context.Context, name runlog.ObjectName) ([]byte, error) {
	data, err := f.readObject(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = runlog.ErrNoObject
	}
	if err != nil {
		return nil, fmt.Errorf("log: vector of record %d: %w", name.N, err)
	}
	return data, nil
}

func (f *Log) readObject(name runlog.ObjectName) (data []byte, err error) {
	file, err := f.fs.Open(f.object(name), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	if size > 4*plan.MaxDense {
		return nil, fmt.Errorf("%w: it has %d bytes", runlog.ErrCorrupt, size)
	}
	data = make([]byte, size)
	n, err := readAt(file, data, 0)
	if err != nil {
		return nil, err
	}
	return data[:n], name.Check(data[:n])
}

// KeepObjects implements [runlog.Objects].
func (f *Log) KeepObjects(_ context.Context, n uint64, names []runlog.ObjectName) error {
	if f.fixed {
		return errFixed
	}
	if err := f.unchanged(); err != nil { // the directory may hold another log now
		return fmt.Errorf("log: vectors: %w", err)
	}
	there, err := f.fs.ReadDir(f.path("objects"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, file := range there {
		name, ok := runlog.ParseObjectName(file)
		if ok && name.N <= n && !slices.Contains(names, name) {
			err = errors.Join(err, f.fs.Remove(f.object(name)))
		}
	}
	if err != nil {
		return fmt.Errorf("log: vectors: %w", err)
	}
	return nil
}
