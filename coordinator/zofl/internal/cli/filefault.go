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

// CheckNew returns a usage error if a file that a flag names cannot be created: it exists, or its
// directory does not. It is for the start of commands that write at their end.
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

// WriteNew writes a file that must not exist yet: whole, or not at all. See [NewFileFault].
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

// CheckDirectory returns a usage error unless the directory of a file that a flag names is there.
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

// FileFault is a usage error of a file to read that a flag or an argument names.
func FileFault(flag, name string, err error) error {
	return fileFault(flag, name, err, "name one that is there")
}

// NewFileFault is a usage error of a file to write that a flag names.
func NewFileFault(flag, name string, err error) error {
	if errors.Is(err, fs.ErrExist) && errors.As(err, new(*fs.PathError)) {
		return exists(flag, name)
	}
	return fileFault(flag, name, err, "make its directory first, or name another one")
}

// fileFault adds what helps. Errors that are not of the file system say it themselves.
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
