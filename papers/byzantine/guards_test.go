package byzantine

import (
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
)

// TestGuards is the short form. A fleet in which two devices have twenty times as many samples as
// others is changed by a bound on claims.
func TestGuards(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, Guards(), &lab.Env{Short: true, Generated: 2000, Screen: true})
	if len(r.Summary.Rows) != 12 || len(r.Claims) != 8 {
		t.Fatalf("%d rows and %d claims, want 12 and 8", len(r.Summary.Rows), len(r.Claims))
	}
	labtest.Untold(t, r, 8)
	final := func(row int) string { return r.Summary.Rows[row][2] }
	if final(0) == final(8) || final(8) == final(9) {
		t.Errorf("accuracies %s without guards, %s with defaults; by samples %s, with a bound on "+
			"claims %s", final(0), final(1), final(8), final(9))
	}
}
