package lab

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNoData(t *testing.T) {
	empty := t.TempDir()
	for _, test := range []struct {
		data string
		want []string
	}{
		{"", []string{"--data", "ZOFL_DATA", "mnist/"}},
		{empty, []string{filepath.Join(empty, "mnist"), "put the files", "--data"}},
		{filepath.Join(empty, "nowhere"), []string{"nowhere", "put the files"}},
	} {
		_, err := (&Env{Data: test.data}).MNIST()
		if err == nil {
			t.Fatalf("%q: no error", test.data)
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v: want it to say %q", test.data, err, want)
			}
		}
		if test.data != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v is not fs.ErrNotExist", test.data, err)
		}
	}
}

// TestData reads the real files, if they exist.
func TestData(t *testing.T) {
	dir := os.Getenv("ZOFL_DATA")
	if dir == "" {
		t.Skip("ZOFL_DATA is not set: the experiments run on drawn digits here")
	}
	for _, data := range []string{dir, filepath.Join(dir, "mnist")} {
		s, err := (&Env{Data: data}).MNIST()
		if err != nil || s.Train.Len() != 60_000 || s.Test.Len() != 10_000 {
			t.Errorf("%s: %v, %v", data, s, err)
		}
	}
}
