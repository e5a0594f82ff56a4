package dashboard

import (
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// TestInVainOnce: the page shows once, by the history's mark, a device that works in vain, has
// another's id or is a suspect. Charts have no line for such marks.
func TestInVainOnce(t *testing.T) {
	m := marked(&history.Mark{Kind: history.InVain, ID: "d3", Text: "d3: its answers come late"})
	if m.Text != "in vain: d3: its answers come late" || m.Level != "warn" || m.Chart {
		t.Errorf("the mark is %+v", m)
	}
	m = marked(&history.Mark{Kind: history.SameID, ID: "d3", Text: "d3: two devices"})
	if m.Text != "same id: d3: two devices" || m.Level != "warn" || m.Chart {
		t.Errorf("the mark is %+v", m)
	}
	m = marked(&history.Mark{Kind: history.Suspect, ID: "d3", Text: "d3: it lies"})
	if m.Text != "suspect: d3: it lies" || m.Level != "warn" || m.Chart {
		t.Errorf("the mark is %+v", m)
	}
	twins := report.Event{Kind: report.SameID, ID: "d3"}
	if m, ok := happening(&twins, time.Now()); ok {
		t.Errorf("told again: %+v", m)
	}
	e := report.Event{Kind: report.Unused, ID: "d3", Reason: "its answers come late"}
	if m, ok := happening(&e, time.Now()); ok {
		t.Errorf("told again: %+v", m)
	}
}
