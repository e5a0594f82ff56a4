package lossprogram

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFileGone: if the system removes the shared file, the program gets another file.
func TestFileGone(t *testing.T) {
	p, _ := startTest(t, "well")
	well(t, p)
	if err := os.Remove(p.file.file.Name()); err != nil {
		t.Fatal(err)
	}
	well(t, p)
	if _, err := os.Stat(p.file.file.Name()); err != nil {
		t.Error(err)
	}
}

// TestSweep: sweep removes files of processes that were killed, and keeps files in use.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	used, err := shareIn(dir, shape{dim: 2, points: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer used.close()
	left := filepath.Join(dir, prefix+"1")
	if err := os.WriteFile(left, make([]byte, 8), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep(dir)
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a file that was made just now: %v", err)
	}
	if err := os.Chtimes(left, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	sweep(dir)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file that was left: %v", err)
	}
	if _, err := os.Stat(used.file.Name()); err != nil {
		t.Error(err)
	}
	if _, err := newSharedFile(shape{dim: 1<<31 - 1, points: mostPoints * 1024 * 1024}); err == nil {
		t.Error("a file of 2^63 bytes")
	}
}
