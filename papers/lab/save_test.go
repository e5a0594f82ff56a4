package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/plan/preset"
)

// TestKept: what a run reached is not made again, unless the plan or what else it depends on is
// another one.
func TestKept(t *testing.T) {
	p, err := preset.Unbound("decomfl", "kept", 10)
	if err != nil {
		t.Fatal(err)
	}
	other := *p
	other.Mu *= 2
	e, runs := &Env{Dir: t.TempDir()}, 0
	reach := func() (*int, error) {
		runs++
		return &runs, nil
	}
	seen := map[string]bool{}
	for i, c := range []struct {
		dir, name, more string
		other           bool
	}{{"a", "x-1", "", false}, {"a", "x-1", "", true}, {"a", "x-1", "\n3", false},
		{"a", "x-2", "", false}, {"b", "x-1", "", false}} {
		plan := p
		if c.other {
			plan = &other
		}
		file, err := e.File(c.dir, c.name, plan, c.more)
		if err != nil || seen[file] || filepath.Dir(file) != filepath.Join(e.Dir, c.dir) {
			t.Fatalf("%+v: %s, %v", c, file, err)
		}
		seen[file] = true
		for range 2 {
			if got, err := Kept(file, reach); err != nil || *got != i+1 || runs != i+1 {
				t.Errorf("%+v: %v, %v after %d runs, want %d", c, *got, err, runs, i+1)
			}
		}
	}
	broken := errors.New("broken")
	fails := func() (*int, error) { return nil, broken }
	file := filepath.Join(e.Dir, "fails")
	if _, err := Kept(file, fails); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a run that failed is kept")
	}
	if file, err := (&Env{}).File("a", "x", p, ""); file != "" || err != nil {
		t.Errorf("without a directory: %q, %v", file, err)
	}
	if got, err := Kept("", reach); err != nil || *got != 6 {
		t.Errorf("nothing is kept without a file, got %v, %v", got, err)
	}
}
