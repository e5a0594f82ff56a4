package untouched

import (
	"slices"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
)

// TestRaw runs the experiment on drawn data: each form has scores of its own.
func TestRaw(t *testing.T) {
	e := &lab.Env{Generated: 300, Dir: t.TempDir(), Seeds: 1, Rounds: 12, Screen: true,
		Tasks: []string{"digits-softmax"}}
	r := labtest.Run(t, Raw(), e)
	if len(r.Table.Rows) != 5 || len(r.Claims) != 1 || len(r.Summary.Rows) != 1 {
		t.Fatalf("%d runs, %d claims, %d rows, want 5, 1 and 1", len(r.Table.Rows), len(r.Claims),
			len(r.Summary.Rows))
	}
	for i, row := range r.Table.Rows[1:] {
		if slices.Equal(row[7:9], r.Table.Rows[i][7:9]) {
			t.Errorf("%v is like %v", row, r.Table.Rows[i])
		}
	}
}
