//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// lock takes an exclusive lock, which the system releases when the process ends for any reason. So
// a file that a crash leaves locks nothing.
func lock(path string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return held(file, true)
}

// ShareLock checks that no process holds the lock of a path, and keeps others from taking it until
// the closer is closed. It creates no file and writes nothing. Many can share a lock. The error
// matches [ErrLocked] if a process holds it. If there is no such file, no process does.
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

// held locks an open file, or closes it.
func held(file *os.File, exclusive bool) (io.Closer, error) {
	if err := acquire(file, exclusive); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", file.Name(), err), file.Close())
	}
	return file, nil
}
