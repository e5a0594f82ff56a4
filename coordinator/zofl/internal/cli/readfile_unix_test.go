//go:build unix

package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadOfARemovedFIFO: ReadFile keeps the content of a FIFO after the FIFO was removed. If a
// regular file then has the name, ReadFile reads that file.
func TestReadOfARemovedFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { _ = os.WriteFile(fifo, []byte("old"), 0) }()
	read := func(want string) {
		t.Helper()
		if got, err := ReadFile(t.Context(), fifo); string(got) != want || err != nil {
			t.Errorf("%q, %v: want %q", got, err, want)
		}
	}
	read("old")
	if err := os.Remove(fifo); err != nil {
		t.Fatal(err)
	}
	read("old")
	if _, err := ReadFile(t.Context(), fifo+"2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another name: %v", err)
	}
	if err := os.WriteFile(fifo, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	read("new")
}
