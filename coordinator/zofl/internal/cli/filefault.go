package cli

import (
	"errors"
	"fmt"
	"io/fs"
)

// FileFault is a usage error of a file to read that a flag or an argument names.
func FileFault(flag, name string, err error) error {
	return fileFault(flag, name, err, "name one that is there")
}

// NewFileFault is a usage error of a file to write that a flag names.
func NewFileFault(flag, name string, err error) error {
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
