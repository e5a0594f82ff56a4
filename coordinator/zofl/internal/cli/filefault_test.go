package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestFileFaults: the error about an unusable file names the file once, with the flag, the cause
// and the remedy.
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

// TestCheckNew: a command that writes a file at its end fails at its start if the file exists or
// its directory does not.
func TestCheckNew(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("a model"), 0o644); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "none", "new")
	for name, want := range map[string]string{
		filepath.Join(dir, "new"): "",
		old:                       "--out " + old + ": the file exists: name a new one",
		missing: "--out " + missing + ": no such file or directory: make its directory first, or name " +
			"another one",
		filepath.Join(old, "new"): "--out " + filepath.Join(old, "new") +
			": not a directory: name another one",
	} {
		err := CheckNew("--out", name)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want || err != nil && !errors.As(err, &UsageError{}) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
