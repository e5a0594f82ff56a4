//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// lock creates a lock file, and fails if the file exists. The file remains after a crash. Then a
// person must make sure that no process uses the folder, and remove the file.
func lock(path string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("lock: %w: if no process runs, remove %s", ErrLocked, path)
	}
	if err != nil {
		return nil, err
	}
	return lockFile{file}, nil
}

// ShareLock checks that no process holds the lock of a path. ShareLock creates no file and writes
// nothing. The error matches [ErrLocked] if a process holds the lock.
func ShareLock(path string) (io.Closer, error) {
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return io.NopCloser(nil), nil
	case err == nil:
		err = fmt.Errorf("lock: %w: if no process runs, remove %s", ErrLocked, path)
	}
	return nil, err
}

type lockFile struct{ *os.File }

func (f lockFile) Close() error {
	return errors.Join(f.File.Close(), os.Remove(f.Name()))
}

// syncDir does nothing, because these systems cannot sync folders.
func syncDir(string) error { return nil }
