package engine

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/cohort"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

func goodbyeOf(c *Core, id string) Input {
	r := wire.Reply{Kind: wire.Decline, N: c.N + 1, Tip: c.Hash.Tip(), Reason: wire.DeclineLeaving}
	return Input{Kind: InReply, ID: id, Frame: r.Append(nil)}
}

// Whichever members are absent, the core asks each present member equally often. On average, an
// attempt asks Target*OverSample present members.
func TestPresentAreAskedAlike(t *testing.T) {
	const members, absent, target, records = 30, 12, 4, 20_000
	plan := chaintest.Plan(t)
	plan.Members, plan.Target, plan.Quorum, plan.OverSample = members, target, 1, 1.5
	c := newTestCore(t, plan, members)
	for i, id := range ids(members) {
		if i%5 < 2 { // 12 of 30
			c.Step(1, goodbyeOf(c, id))
		}
	}
	if c.cohort.Crowd.Present() != members-absent {
		t.Fatalf("%d are present, want %d", c.cohort.Crowd.Present(), members-absent)
	}
	var asked [members]float64
	sum := 0.0
	first := c.N
	for n := range uint64(records) {
		c.N = first + n
		a := cohort.Attempt{Cohort: c.cohort.Draw(0, c.now), Draw: c.N + 1}
		for slot := range asked {
			if !c.cohort.Crowd.Members[slot].Absent() && a.Asks(plan.Run, uint32(slot), "") {
				asked[slot]++
				sum++
			}
		}
	}
	if mean := sum / records; math.Abs(mean-1.5*target) > 0.1 {
		t.Errorf("%g present members are asked on average, want %g", mean, 1.5*target)
	}
	share := sum / (members - absent) / records
	sigma := math.Sqrt(records * share * (1 - share))
	for slot, n := range asked {
		if !c.cohort.Crowd.Members[slot].Absent() && math.Abs(n-records*share) > 5*sigma {
			t.Errorf("slot %d was asked %g times, want %g", slot, n, records*share)
		}
	}
}

// A restarted coordinator waits for members that it has not heard from for one deadline.
func TestRestartedWaitsOnce(t *testing.T) {
	plan := chaintest.Plan(t)
	plan.Members, plan.Target, plan.Quorum, plan.OverSample = 3, 3, 2, 1
	c := newTestCore(t, plan, 3)
	c.cohort.Crowd = presence.Crowd{}
	c.cohort.Crowd.Grow(3, false)
	for i, frame := range contributions(c, 2, func(int) []float32 { return []float32{1, 2} }) {
		c.Step(1, Input{Kind: InReply, ID: ids(3)[i], Frame: frame})
	}
	at, _ := c.Wake()
	var lost []string
	for _, o := range c.Step(at+uint64(plan.Deadline), Input{Kind: InTick}) {
		if o.Kind == OutEvent && o.Event.Kind == report.Lost {
			lost = append(lost, o.Event.ID)
		}
	}
	if len(lost) != 1 || lost[0] != ids(3)[2] || c.phase() != appending {
		t.Errorf("lost %v, phase %d, want the last member lost and the round committed", lost,
			c.phase())
	}
}
