//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package coordinator

import (
	"errors"
	"fmt"
	"os"
)

// lockFile makes a file that must not exist yet. A crash leaves it behind;
// somebody who knows that no coordinator runs removes it.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("lock: %w: if none runs, remove %s", ErrLocked, path)
	}
	return file, err
}

func unlockFile(file *os.File) error {
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// syncDir does nothing where directories cannot be synced.
func syncDir(string) error { return nil }
