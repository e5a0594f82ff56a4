//go:build !race

package history

import (
	"testing"

	"github.com/zofl/zofl/coordinator/report"
)

// The history of a long run stays within its bounds. It keeps the first and the last points and the
// latest rounds, and drops points with metrics last.
func TestThin(t *testing.T) {
	var h History
	run := newRun(t)
	h.Lead(t.Context(), run, nil, nil)
	const n = 6 * mostPoints
	const late = 17 // a point before
	for i := uint64(2); i <= n; i++ {
		run.dropped(late)
		record(t, &h, round(i))
		if i%64 == 0 {
			record(t, &h, evaluation(i, 1))
		}
		if i%1000 == 0 {
			record(t, &h, report.Event{Kind: report.Changed, N: i}, report.Event{Kind: report.RunPaused,
				N: i})
		}
		if i%8 == 1 {
			record(t, &h, report.Event{Kind: report.RunResumed, N: i})
		}
	}
	points, marks := h.Snapshot(0)
	list := ns(t, points)
	if len(list) >= mostPoints || len(marks) >= mostMarks {
		t.Errorf("%d points and %d marks", len(list), len(marks))
	}
	if list[0] != 2 || list[len(list)-1] != n || list[len(list)-mostPoints/2] != n-mostPoints/2+1 {
		t.Errorf("points from %d to %d", list[0], list[len(list)-1])
	}
	evaluated, changes, rejected := 0, 0, uint64(0)
	for _, p := range points {
		if p.Evaluation != nil {
			evaluated++
		}
		rejected += p.Rejected["late"]
	}
	for _, m := range marks {
		if m.Kind == Changed {
			changes++
		}
	}
	if rejected != late*(n-1) {
		t.Errorf("%d messages were rejected, want %d", rejected, late*(n-1))
	}
	if evaluated != n/64 || changes != n/1000 {
		t.Errorf("%d evaluations of %d, %d changes of %d", evaluated, n/64, changes, n/1000)
	}
}

// The bounds hold even if every point has metrics.
func TestThinPrecious(t *testing.T) {
	var h History
	for i := uint64(2); i < 4*mostPoints; i++ {
		record(t, &h, round(i), evaluation(i, 1), report.Event{Kind: report.Changed, N: i})
	}
	points, marks := h.Snapshot(0)
	if list := ns(t, points); len(list) >= mostPoints || list[0] != 2 ||
		list[len(list)-1] != 4*mostPoints-1 {
		t.Errorf("%d points", len(points))
	}
	if len(marks) >= mostMarks || marks[0].N != 2 || marks[len(marks)-1].N != 4*mostPoints-1 {
		t.Errorf("%d marks", len(marks))
	}
}
