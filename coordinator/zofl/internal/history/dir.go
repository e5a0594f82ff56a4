package history

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/zofl/zofl/internal/disk"
)

// FileName is the name of a history in the directory of a log.
const FileName = "history.jsonl"

// Dir returns the store in the directory of a log. Only the process that has the log open may use
// the store.
func Dir(dir string) Store { return newFile(disk.OS, dir, true) }

// DirToRead returns the store in the directory of a log, for reading alone. Another process may
// have the log open.
func DirToRead(dir string) Store { return newFile(disk.OS, dir, false) }

// A file is a store in a file. It does not sync appended lines to disk, so a power cut may lose the
// last points.
type file struct {
	fs    disk.FS
	path  string
	write bool
	open  disk.File
	size  int64 // of the lines that were read or written whole
}

func newFile(fsys disk.FS, dir string, write bool) *file {
	return &file{fs: fsys, path: filepath.Join(dir, FileName), write: write}
}

func (f *file) pace() time.Duration { return 0 }

func (f *file) rest() error {
	if f.open == nil {
		return nil
	}
	err := f.open.Close()
	f.open = nil
	return err
}

// load implements [Store]. It cuts off an incomplete last line.
func (f *file) load(_ context.Context, each func(line)) (damaged int, err error) {
	if err := f.reopen(); err != nil || f.open == nil {
		return 0, err
	}
	end, err := f.open.Size()
	if err != nil {
		return 0, err
	}
	got, err := readLines(io.NewSectionReader(f.open, f.size, end-f.size), each)
	if err != nil {
		return got.damaged, err
	}
	if f.size += got.whole; got.torn && f.write {
		err = f.open.Truncate(f.size)
	}
	return got.damaged, err
}

// reopen opens the file if it is not open. A store for reading may have no file.
func (f *file) reopen() (err error) {
	if f.open != nil {
		return nil
	}
	flag := os.O_RDONLY
	if f.write {
		flag = os.O_RDWR | os.O_CREATE
	}
	f.size = 0
	f.open, err = f.fs.Open(f.path, flag)
	if errors.Is(err, fs.ErrNotExist) && !f.write {
		f.open, err = nil, nil
	}
	return err
}

// append implements [Store].
func (f *file) append(_ context.Context, lines []byte) error {
	if f.open == nil {
		return fs.ErrClosed
	}
	n, err := f.open.WriteAt(lines, f.size)
	if err != nil {
		return errors.Join(err, f.open.Truncate(f.size))
	}
	f.size += int64(n)
	return nil
}

// replace implements [Store].
func (f *file) replace(_ context.Context, lines []byte) error {
	if err := f.rest(); err != nil {
		return err
	}
	if err := disk.Replace(f.fs, f.path, func(w io.Writer) error {
		_, err := w.Write(lines)
		return err
	}); err != nil {
		return err
	}
	err := f.reopen()
	f.size = int64(len(lines))
	return err
}
