package train

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	for _, want := range [][]float32{{1, -0.5, math.MaxFloat32, 0}, {}, {2}} {
		if err := Save(path, want); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path, len(want))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v and %v, want %v", got, err, want)
		}
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 1 {
		t.Errorf("files %v, want one", left)
	}
	if err := Save(filepath.Join(path, "nowhere"), nil); err == nil {
		t.Error("saved below a file")
	}
}

func TestLoadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if _, err := Load(path, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if err := Save(path, []float32{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, 4); err == nil || !strings.Contains(err.Error(), "3 parameters") {
		t.Errorf("another dimension: got %v", err)
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1
		check(t, path, bad)
	}
	for n := range good {
		check(t, path, good[:n])
	}
	check(t, path, append(slices.Clone(good), 0))
}

// check wants a file of these bytes refused, by name.
func check(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, 3); err == nil || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "train again") {
		t.Errorf("%d bytes: got %v, want the file and what to do", len(b), err)
	}
}
