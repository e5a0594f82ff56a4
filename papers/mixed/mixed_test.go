package mixed

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
)

// TestMixed runs the short form of the experiment on drawn digits. Its claims hold there too.
func TestMixed(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, Experiment(), &lab.Env{Generated: 1200, Short: true})
	labtest.AllHold(t, r, 4)
	if n := len(r.Figure.Lines); n != 3 {
		t.Errorf("%d curves, want 3", n)
	}
	for _, row := range r.Table.Rows {
		if len(row) != len(r.Table.Columns) {
			t.Fatalf("%q has not the columns %q", row, r.Table.Columns)
		}
	}
}

// TestMixedScreened: screening would make all fleets the same.
func TestMixedScreened(t *testing.T) {
	x := Experiment()
	if _, err := x.Run(t.Context(), &lab.Env{Generated: 100, Screen: true}); !errors.Is(err,
		errScreen) {
		t.Errorf("got %v, want %v", err, errScreen)
	}
}
