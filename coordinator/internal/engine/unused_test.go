package engine

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
)

// inVain plays rounds of three devices. The last device's contribution may come after the round is
// closed. inVain returns the records at which the core reported that.
func inVain(c *Core, rounds int, late bool) (told []uint64, reason string) {
	step := func(in Input) {
		for _, o := range c.Step(1, in) {
			if o.Kind == OutEvent && o.Event.Kind == report.Unused {
				told, reason = append(told, o.Event.N), o.Event.ID+": "+o.Event.Reason
			}
		}
	}
	for range rounds {
		frames := contributions(c, 3, func(int) []float32 { return []float32{1, 2} })
		for i, frame := range frames[:2] {
			step(Input{Kind: InReply, ID: ids(3)[i], Frame: frame})
		}
		if late {
			step(Input{Kind: InAppended, N: c.N + 1})
		}
		for range 2 { // a repeated frame counts once
			step(Input{Kind: InReply, ID: ids(3)[2], Frame: frames[2]})
		}
		if !late {
			step(Input{Kind: InAppended, N: c.N + 1})
		}
	}
	return told, reason
}

// TestWorksInVain: the log and the status report that a device's work counts for nothing round
// after round, less and less often. The reports end when the device's work counts again.
func TestWorksInVain(t *testing.T) {
	const says = "came after their rounds had closed"
	plan := chaintest.Plan(t)
	plan.Members, plan.Target, plan.Quorum, plan.OverSample = 3, 2, 2, 1.5
	c := newTestCore(t, plan, 3)
	start, id := c.N, ids(3)[2]
	told, reason := inVain(c, 70, true)
	if len(told) != 3 || told[1]-told[0] != 16 || told[2]-told[1] != 32 || told[0]-start > 18 ||
		!strings.Contains(reason, id+": its last 64 ") || !strings.Contains(reason, says) {
		t.Errorf("told at %v: %q", told, reason)
	}
	if why := c.Status().Unused; len(why) != 1 || !strings.Contains(why[id], says) {
		t.Errorf("the status says %v", why)
	}
	c.Plan.Target = 3
	if told, _ := inVain(c, 1, false); len(told) > 0 {
		t.Errorf("told at %v though its work counts", told)
	}
	if why := c.Status().Unused; len(why) > 0 {
		t.Errorf("when its work counts, the status says %v", why)
	}
}

// TestRepeatedIsNotInVain: a device that repeats a contribution which counted, once the round is
// closed, does not work in vain.
func TestRepeatedIsNotInVain(t *testing.T) {
	plan := chaintest.Plan(t)
	plan.Members, plan.Target, plan.Quorum, plan.OverSample = 2, 2, 2, 1
	c := newTestCore(t, plan, 2)
	for range 40 {
		frames := contributions(c, 2, func(int) []float32 { return []float32{1, 2} })
		for i, frame := range frames {
			c.Step(1, Input{Kind: InReply, ID: ids(2)[i], Frame: frame})
		}
		c.Step(1, Input{Kind: InAppended, N: c.N + 1})
		for i, frame := range frames {
			for _, o := range c.Step(1, Input{Kind: InReply, ID: ids(2)[i], Frame: frame}) {
				if o.Kind == OutEvent && o.Event.Kind == report.Unused {
					t.Fatalf("%+v", o.Event)
				}
			}
		}
	}
	if c.counters.Late != 0 || c.counters.Repeated != 80 {
		t.Errorf("%d late replies, %d repeated ones, want 80 repeated", c.counters.Late,
			c.counters.Repeated)
	}
}
