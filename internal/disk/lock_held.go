//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// lock takes an exclusive lock. The system releases the lock when the process ends for any reason.
// So a lock file that remains after a crash locks nothing.
//
// The last holder may have removed the file before this process locked it. A lock of a removed file
// keeps nobody out, so lock then begins again.
func lock(path string) (io.Closer, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		l, err := held(f, true)
		if err != nil {
			return nil, err
		}
		if _, err = (&file{File: f}).Mark(); err == nil {
			return l, nil
		}
		err = errors.Join(err, l.Close())
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrReplaced) {
			return nil, err
		}
	}
}

// ShareLock checks that no process holds the exclusive lock of a path, and keeps other processes
// from taking that lock until the caller closes the closer. ShareLock creates no file and writes
// nothing. Several processes can share a lock. The error matches [ErrLocked] if a process holds the
// exclusive lock. If there is no lock file, no process holds the lock.
func ShareLock(path string) (io.Closer, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(nil), nil
	}
	if err != nil {
		return nil, err
	}
	return held(file, false)
}

// held locks an open file. If that fails, held closes the file.
func held(file *os.File, exclusive bool) (io.Closer, error) {
	if err := acquire(file, exclusive); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", file.Name(), err), file.Close())
	}
	return file, nil
}
