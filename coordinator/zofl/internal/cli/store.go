package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Store explains what is wrong with the directory of --store, if that directory is the reason why
// the store did not open. Store returns other errors unchanged.
func Store(dir string, err error) error {
	var at *fs.PathError
	switch {
	case !errors.As(err, &at):
		return err
	case errors.Is(at, syscall.ENOTDIR):
		return Usage(fmt.Errorf("--store %s: %s is a file: name a directory", dir, existing(dir)))
	case at.Op == "mkdir":
		return Usage(fmt.Errorf("--store %s: cannot make this directory: %w: name one that this "+
			"user may write", dir, at.Err))
	case errors.Is(at, fs.ErrPermission):
		return Usage(fmt.Errorf("--store %s: %w: name a directory that this user may write", dir, at))
	}
	return err
}

// existing returns the longest part of a path, from its beginning, that exists.
func existing(path string) string {
	for {
		parent := filepath.Dir(path)
		if _, err := os.Stat(path); err == nil || parent == path {
			return path
		}
		path = parent
	}
}
