package cost_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/wire"
)

// TestCostIsTheFrames compares costs with frames built here, for a run at round 8:
// record 8 is the last, and record 9 is open.
func TestCostIsTheFrames(t *testing.T) {
	p := testPlan(t)
	reply := (&wire.Reply{Kind: wire.Contribution, N: 9, Weight: 1,
		Values: make(wire.Scalars, 40)}).Append(nil)
	record := (&wire.Record{N: 9, Epoch: 1, Kind: wire.KindRound, Round: &wire.Round{
		Round: 8, StepSize: 1e-3, Perturbations: 10, Contributors: 10,
		Terms: []wire.Term{{Scalars: make(wire.Scalars, 40)}},
	}}).Append(nil)
	a := wire.Announcement{N: 9, Epoch: 1, Left: 30000,
		Cohort: wire.Cohort{Sampled: 10, Members: 10}, StepSize: 1e-3, Perturbations: 10}
	a.Records.Add(record)
	announcement := a.Append(nil)

	got := cost.Of(p, cost.Input{Round: 8, IDLen: 8})
	want := cost.Round{
		Perturbations: 10, Queries: 11, Scalars: 10, Directions: 10,
		Up: cost.Traffic{Payload: len(reply),
			Socket: len(fmt.Sprintf("PUB zo.mnist.p.0.12345678 %d\r\n%s\r\n", len(reply), reply))},
		Down: cost.Traffic{Payload: len(announcement),
			Socket: len(
				fmt.Sprintf("MSG zo.mnist.a.0 1 %d\r\n%s\r\n", len(announcement), announcement))},
		Repeat: got.Repeat, // see TestCostOfRepeats
		Record: len(record), Records: 1, Vectors: 1,
		Flat: 4 * (2*100 + 4096), Streaming: 4 * (100 + 4096),
		Coordinator: 10 * uint64(unsafe.Sizeof(mathx.ExactSum{})),
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestCostOfRepeats: a repetition of an announcement names the ten missing devices, and carries no
// record before the last.
func TestCostOfRepeats(t *testing.T) {
	p := testPlan(t)
	for _, round := range []uint64{1, 2, 100} {
		c := cost.Of(p, cost.Input{Round: round})
		if got, want := c.Repeat.Payload, c.Down.Payload+1+1+2+10; got != want {
			t.Errorf("round %d: a repetition of %d bytes, want %d", round, got, want)
		}
	}
	p.Reannounce, p.Deadline = 5_000, 3_600_000
	for lasts, want := range map[uint64]int{0: 0, 5_001: 0, 11_000: 0, 33_000: 0, 60_000: 0,
		60_001: 1, 600_000: 9, 3_600_000: 59, 1 << 60: 59} {
		if got := cost.Repeats(p, lasts); got != want {
			t.Errorf("%d repetitions in %d ms, want %d", got, lasts, want)
		}
	}
}

func TestCostFollowsTheSchedule(t *testing.T) {
	p := testPlan(t)
	p.PerturbationSchedule = []plan.PerturbationPoint{{Round: 50, Perturbations: 100}}
	early, late := cost.Of(p, cost.Input{Round: 49}), cost.Of(p, cost.Input{Round: 50})
	if early.Queries != 11 || late.Queries != 101 || late.Up.Payload-early.Up.Payload != 4*90+1 {
		t.Errorf("got %+v, then %+v", early, late)
	}
	p.Roster, p.Shards = plan.OpenRoster, 1296
	if open := cost.Of(p, cost.Input{Round: 49}); open.Down.Payload <= early.Down.Payload-2 ||
		open.Up.Socket != early.Up.Socket+1 {
		t.Errorf("an open roster with two-digit shards: got %+v, dense %+v", open, early)
	}
}

// TestReplyBudget checks the figures in the specification: a reply with K = 1 and
// P = 10 early in a run.
func TestReplyBudget(t *testing.T) {
	p := testPlan(t)
	got := cost.Of(p, cost.Input{Round: 100, IDLen: 8})
	t.Logf("up %+v, down %+v, record %d", got.Up, got.Down, got.Record)
	if want := (cost.Traffic{Payload: 62, Socket: 94}); got.Up != want {
		t.Errorf("up: got %+v, want %+v", got.Up, want)
	}
}

// TestCostOfWeights: only a mean weighted by samples has long weights.
func TestCostOfWeights(t *testing.T) {
	p := testPlan(t)
	equal := cost.Of(p, cost.Input{}).Up.Payload
	p.Weights = plan.BySamples
	if got := cost.Of(p, cost.Input{}).Up.Payload; got != equal+4 {
		t.Errorf("a contribution weighted by samples takes %d bytes, want 4 more than %d", got,
			equal)
	}
}
