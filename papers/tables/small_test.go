package tables_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/tables"
)

func TestSmall(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "iris.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("2,3,setosa,versicolor\n5.1,3.5,1\n4.9,3,0\n")
	got, err := tables.Small(dir, "iris")
	if err != nil || got.Len() != 2 || got.Features != 2 || got.Classes != 2 ||
		got.At(1)[0] != 4.9 || got.Labels[0] != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"": "no rows", "a,b\n1,2,3\n1,2\n": "line 3", "1,2,0\n1,2,-1\n": "class -1",
		"1,2,0\n1,x,1\n": "line 2",
	} {
		write(text)
		if _, err := tables.Small(dir, "iris"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := tables.Small(dir, "wine"); !os.IsNotExist(err) || tables.IsSmall("covtype") {
		t.Errorf("no file: %v", err)
	}
}
