package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CheckNew returns a usage error if a file that a flag names cannot be created: the file exists, or
// its directory does not exist. A command that writes a file at its end calls CheckNew at its
// start.
func CheckNew(flag, name string) error {
	if err := CheckDirectory(flag, name); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err == nil {
		return exists(flag, name)
	}
	return nil
}

func exists(flag, name string) error {
	return Usage(fmt.Errorf("%s %s: the file exists: name a new one", flag, name))
}

// WriteNew writes a file that must not exist yet. WriteNew writes the whole file, or leaves no
// file. See [NewFileFault].
func WriteNew(name string, mode fs.FileMode, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err = write(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// CheckDirectory returns a usage error unless the directory of a file that a flag names exists.
func CheckDirectory(flag, name string) error {
	dir, err := os.Stat(filepath.Dir(name))
	if err == nil && !dir.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return NewFileFault(flag, name, err)
	}
	return nil
}

// FileFault returns a usage error about a file that a flag or an argument names and the command
// reads.
func FileFault(flag, name string, err error) error {
	return fileFault(flag, name, err, "name one that is there")
}

// NewFileFault returns a usage error about a file that a flag names and the command writes.
func NewFileFault(flag, name string, err error) error {
	if errors.Is(err, fs.ErrExist) && errors.As(err, new(*fs.PathError)) {
		return exists(flag, name)
	}
	return fileFault(flag, name, err, "make its directory first, or name another one")
}

// fileFault adds a remedy to an error of the file system. Other errors already contain a remedy.
func fileFault(flag, name string, err error, missing string) error {
	fault := (*fs.PathError)(nil)
	if !errors.As(err, &fault) {
		return Usage(fmt.Errorf("%s: %w", flag, err))
	}
	remedy := "name another one"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		remedy = missing
	case errors.Is(err, fs.ErrPermission):
		remedy = "give this user the right to, or name another one"
	}
	return Usage(fmt.Errorf("%s %s: %w: %s", flag, name, fault.Err, remedy))
}
