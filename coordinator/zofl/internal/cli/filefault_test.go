package cli

import (
	"errors"
	"io/fs"
	"testing"
)

// TestFileFaults: a file that is of no use is named once, with the flag, the cause and what helps.
func TestFileFaults(t *testing.T) {
	fault := func(err error) error { return &fs.PathError{Op: "open", Path: "f", Err: err} }
	for _, tt := range []struct {
		got  error
		want string
	}{
		{FileFault("--in", "f", fault(fs.ErrNotExist)),
			"--in f: file does not exist: name one that is there"},
		{NewFileFault("--out", "f", fault(fs.ErrNotExist)),
			"--out f: file does not exist: make its directory first, or name another one"},
		{FileFault("--in", "f", fault(fs.ErrPermission)),
			"--in f: permission denied: give this user the right to, or name another one"},
		{FileFault("--in", "f", fault(fs.ErrInvalid)), "--in f: invalid argument: name another one"},
		{FileFault("--in", "f", errors.New("f has 3 bytes: give 4")), "--in: f has 3 bytes: give 4"},
	} {
		if !errors.As(tt.got, new(UsageError)) || tt.got.Error() != tt.want {
			t.Errorf("%v, want %s", tt.got, tt.want)
		}
	}
}
