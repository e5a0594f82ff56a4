package serve

import (
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan/dp"
)

// TestEventPrivacy: the event of a round says what the log has spent.
func TestEventPrivacy(t *testing.T) {
	e := eventOf(report.Event{Kind: report.RoundDone, N: 3, Privacy: &dp.Budget{Epsilon: 2}})
	if e.Privacy == nil || e.Privacy.Epsilon != 2 {
		t.Errorf("the event of a round has %+v", e.Privacy)
	}
}
