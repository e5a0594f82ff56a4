package decomfl

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
)

// TestGrid runs three cells of the grid: one row and one column have both their ends.
func TestGrid(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, grid(), &lab.Env{Generated: 1000, Short: true, Screen: true,
		Tasks: []string{"k1-p10", "k1-p40", "k10-p10"}})
	var claims []string
	for _, c := range r.Claims {
		claims = append(claims, c.Claim)
	}
	text := strings.Join(claims, "\n")
	if len(claims) != 2 || !strings.Contains(text, "K=1: more perturbations") ||
		!strings.Contains(text, "P=10: more local steps") {
		t.Errorf("claims\n%s", text)
	}
	labtest.Untold(t, r, 2)
	if n := len(r.Table.Rows); n != 3*2 {
		t.Errorf("%d rows, want 2 rounds of 3 cells", n)
	}
}

// TestGridCells: the cells are the nine of the paper, cheapest first, and no others.
func TestGridCells(t *testing.T) {
	cells, err := gridCells(&lab.Env{Rounds: 7})
	if err != nil || len(cells) != 9 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	for i, d := range cells {
		if d.rounds != 7 || i > 0 && cells[i-1].k*cells[i-1].p > d.k*d.p {
			t.Errorf("cell %d: %+v", i, d)
		}
	}
	if _, err := gridCells(&lab.Env{Tasks: []string{"k2-p3"}}); err == nil ||
		!strings.Contains(err.Error(), "k1-p10") {
		t.Errorf("a cell that is not there: %v", err)
	}
}
