package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestReadFile: ReadFile keeps the content of a file that can be read only once, and reads a
// regular file anew. It returns an error for a missing file and for an endless file.
func TestReadFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	for _, want := range []string{"old", "new"} {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(t.Context(), file); string(got) != want || err != nil {
			t.Errorf("%q, %v: want %q", got, err, want)
		}
	}
	if _, err := ReadFile(t.Context(), file+"?"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := ReadFile(t.Context(), t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := ReadFile(t.Context(), "/dev/zero"); err == nil ||
			!strings.Contains(err.Error(), "regular file") {
			t.Errorf("an endless file: %v", err)
		}
	}
}

// TestReadOnce: every call for a pipe returns the content of the first call. For a pipe that does
// not end, ReadFile waits no longer than the context.
func TestReadOnce(t *testing.T) {
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Skip("no /dev/fd here")
	}
	name, w := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadFile(ctx, name); !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), name) {
		t.Errorf("without an end: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name, w = pipe(t)
	if _, err := w.WriteString("key"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := ReadFile(t.Context(), name); string(got) != "key" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// pipe returns the name of a pipe, and its other end.
func pipe(t *testing.T) (name string, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return fmt.Sprintf("/dev/fd/%d", r.Fd()), w
}

// TestReadPrivate: ReadPrivate refuses a file that other users can use without reading it, and
// reports a missing file as missing.
func TestReadPrivate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadPrivate(t.Context(), file); string(got) != "key" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ReadPrivate(t.Context(), file+"?"); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "open ") {
		t.Errorf("a missing file: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(file, 0o604); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadPrivate(t.Context(), file); got != nil || err == nil ||
		!strings.Contains(err.Error(), "chmod 600 "+file) {
		t.Errorf("of others: %q, %v", got, err)
	}
}
