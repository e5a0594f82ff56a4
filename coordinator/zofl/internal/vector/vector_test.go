package vector

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var want = []float32{1, -2.5, 0, float32(math.Inf(1)), math.SmallestNonzeroFloat32}

func TestWriteAndRead(t *testing.T) {
	for _, name := range []string{"x.f32", "x.npy"} {
		path := filepath.Join(t.TempDir(), name)
		if err := Write(path, want); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
		if err := Write(path, want[:1]); !errors.Is(err, os.ErrExist) {
			t.Errorf("%s: writing over it: %v, want %v", name, err, os.ErrExist)
		}
		files, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(files) != 1 {
			t.Errorf("%s: %d files are left, %v", name, len(files), err)
		}
	}
}

// The bytes that other programs read.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		"x.f32": "\x00\x00\x80\x3f\x00\x00\x20\xc0",
		"x.npy": "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
	} {
		path := filepath.Join(dir, name)
		if err := Write(path, []float32{1, -2.5}); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), want) ||
			!strings.HasSuffix(string(b), "\x00\x00\x80\x3f\x00\x00\x20\xc0") {
			t.Errorf("%s is %q, want %q in it", name, b, want)
		}
	}
}

// TestReadsZeros: a model may begin with zeros, or be of zeros alone.
func TestReadsZeros(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.f32")
	if err := Write(path, make([]float32, 1000)); err != nil {
		t.Fatal(err)
	}
	if x, err := Read(path); err != nil || len(x) != 1000 {
		t.Errorf("%d parameters, %v", len(x), err)
	}
}

// TestMeanwhile: Create does not replace a file that another process made under the same name
// meanwhile.
func TestMeanwhile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.f32")
	err := Create(name, func(*os.File) error {
		return os.WriteFile(name, []byte("theirs"), 0o600)
	})
	if !errors.Is(err, os.ErrExist) {
		t.Errorf("%v, want that it exists", err)
	}
	if b, err := os.ReadFile(name); string(b) != "theirs" {
		t.Errorf("%q, %v", b, err)
	}
	if files, err := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "odd.f32")
	text := filepath.Join(dir, "text.npy")
	for _, path := range []string{odd, text} {
		if err := os.WriteFile(path, []byte("abcde"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{odd, text, filepath.Join(dir, "none.f32"),
		filepath.Join(dir, "x.bin")} {
		if x, err := Read(path); err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: got %v, %v, want an error that names the file", path, x, err)
		}
	}
	if err := Write(filepath.Join(dir, "x.bin"), want); err == nil ||
		!strings.Contains(err.Error(), ".npy") {
		t.Errorf("an unknown format: %v, want an error that names the known ones", err)
	}
	if err := Write(filepath.Join(dir, "none", "x.f32"), want); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such directory: %v, want %v", err, os.ErrNotExist)
	}
}
