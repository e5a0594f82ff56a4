package untouched

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
)

// TestDirections runs the experiment on drawn data, and again from what the first time saved: each
// arm has scores of its own.
func TestDirections(t *testing.T) {
	dir := t.TempDir()
	e := &lab.Env{Generated: 300, Dir: dir, Seeds: 2, Rounds: 12,
		Tasks: []string{"digits-softmax", "digits-softmax-10"}}
	r := labtest.Run(t, Directions(), e)
	if len(r.Table.Rows) != 2*3*2 || len(r.Claims) != 1 || len(r.Summary.Rows) != 3 {
		t.Fatalf("%d runs, %d claims, %d rows, want 12, 1 and 3", len(r.Table.Rows), len(r.Claims),
			len(r.Summary.Rows))
	}
	files, err := filepath.Glob(filepath.Join(dir, "directions", "*", "*.json"))
	if err != nil || len(files) != 12 {
		t.Errorf("%d scores are saved, %v, want 12", len(files), err)
	}
	own, shared := r.Table.Rows[4], r.Table.Rows[2]
	if own[3] != "own" || shared[3] != "shared" || slices.Equal(own[7:9], shared[7:9]) {
		t.Errorf("own directions make %v, shared ones %v", own, shared)
	}
	again := labtest.Run(t, Directions(), e)
	if !slices.EqualFunc(again.Table.Rows, r.Table.Rows, slices.Equal) {
		t.Errorf("the second time %v, the first %v", again.Table.Rows, r.Table.Rows)
	}
}

// The tasks are the eight, and 21 whose rows are dealt otherwise.
func TestDealt(t *testing.T) {
	var names []string
	for _, task := range dealt() {
		if slices.Contains(names, task.Name) {
			t.Errorf("two tasks %s", task.Name)
		}
		names = append(names, task.Name)
	}
	if len(names) != 29 || !slices.Contains(names, "mnist-mlp-3") ||
		slices.Contains(names, "fashion-softmax-1") {
		t.Errorf("tasks %v", names)
	}
}
