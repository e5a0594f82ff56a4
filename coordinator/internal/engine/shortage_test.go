package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
)

// pass lets milliseconds pass, and returns the events in words.
func pass(c *Core, now *uint64, ms uint64) (events []report.Event) {
	end := *now + ms
	for at, ok := c.Wake(); ok && at <= end; at, ok = c.Wake() {
		*now = max(*now, at)
		for _, o := range c.Step(*now, Input{Kind: InTick}) {
			if o.Kind == OutEvent {
				events = append(events, *o.Event)
			}
		}
	}
	*now = end
	return events
}

// TestOnlyMemberIsGone: a run whose only member is gone says once that it is lost, then ever less
// often how long the run has been paused and what to do, and goes on when it is back.
func TestOnlyMemberIsGone(t *testing.T) {
	const day = 24 * 3600 * 1000
	plan := chaintest.Plan(t)
	plan.Members, plan.Target, plan.Quorum, plan.OverSample = 1, 1, 1, 1
	plan.Deadline, plan.Reannounce = 30_000, 5_000
	c := newTestCore(t, plan, 1)
	now, since := uint64(1), 0.0
	var told []string
	for _, e := range pass(c, &now, 30*day) {
		told = append(told, e.Kind.String())
		if e.Kind != report.StillPaused {
			continue
		}
		if e.Seconds < 1.9*since { // it tells at most half as often each time
			t.Errorf("told after %g s and after %g s", since, e.Seconds)
		}
		since = e.Seconds
		if !strings.Contains(e.Reason, "zofl stop") || !strings.Contains(e.Reason, "quorum 1") {
			t.Errorf("reason %q, want what is wrong and what to do", e.Reason)
		}
	}
	if text := fmt.Sprint(told); len(told) > 16 || len(told) < 8 ||
		!strings.HasPrefix(text, "[lost paused still paused") ||
		strings.Count(text, "still") != len(told)-2 {
		t.Errorf("in 30 days: %v", told)
	}
	var back []string
	for i, frame := range contributions(c, 1, func(int) []float32 { return []float32{1, 2} }) {
		for _, o := range c.Step(now, Input{Kind: InReply, ID: ids(1)[i], Frame: frame}) {
			if o.Kind == OutEvent {
				back = append(back, o.Event.Kind.String())
			}
		}
	}
	if fmt.Sprint(back) != "[returned resumed]" || c.phase != appending {
		t.Errorf("when it is back: %v, phase %v", back, c.phase)
	}
}
