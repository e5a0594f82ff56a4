package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// TestControlsFillARecord sends control variates of more and larger rounds than a record can hold,
// from before P was lowered.
func TestControlsFillARecord(t *testing.T) {
	for _, bound := range []string{"bound=0", "bound=8"} { // which holds variates until it closes
		t.Run(bound, func(t *testing.T) { fillARecord(t, bound) })
	}
}

func fillARecord(t *testing.T, bound string) {
	const devices = 60
	p := methodPlan(t, []string{"control=scaffold-2", bound}, 2)
	p.Perturbations = 2500
	c := newTestCore(t, p, devices)
	names := ids(devices)
	reply := func(d int, control *wire.ControlVariate) {
		r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1, Loss: 1,
			Values: make(wire.Scalars, 4*c.round.scalars)}
		if control != nil {
			r.Rest = control.Append(nil)
		}
		c.Step(1, Input{Kind: InReply, ID: names[d], Frame: r.Append(nil)})
	}
	for c.N < 30 {
		for d := range names {
			reply(d, nil)
		}
		c.Step(1, Input{Kind: InAppended, N: c.N + 1})
	}
	change := plan.Change{}
	for field, value := range map[string]string{"perturbations": "1", "target": "50",
		"over_sample": "2"} {
		if err := planfile.SetChange(&change, field, value); err != nil {
			t.Fatal(err)
		}
	}
	c.Step(1, Input{Kind: InPause})
	c.Step(1, Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindChange, Change: &change}})
	c.Step(1, Input{Kind: InAppended, N: c.N + 1})
	c.Step(1, Input{Kind: InResume})
	for d := range names {
		reply(d, &wire.ControlVariate{N: uint64(2 + d%20), Scalars: make(wire.Scalars, 4*2500)})
	}
	if got := c.counters.Overflow; got == 0 || c.counters.WrongControl != 0 {
		t.Errorf("%d control variates were too many, %d wrong", got, c.counters.WrongControl)
	}
	for now := uint64(2); c.phase() == collecting && c.halt.Pause == nil; now = c.round.deadline {
		c.Step(now, Input{Kind: InTick})
	}
	r, err := wire.DecodeRecord(c.next.frame)
	if err != nil {
		t.Fatalf("phase %d, %s, %d bytes: %v", c.phase(), c.why(), len(c.next.frame), err)
	}
	if got := len(r.Round.Terms); got != 1+6 || len(r.Round.Slots) != int(r.Round.Contributors) {
		t.Errorf("%d terms, want the mean and 6 control variates", got)
	}
}

// TestHostileControls sends control variates that the coordinator must not count.
func TestHostileControls(t *testing.T) {
	plan := methodPlan(t, []string{"control=scaffold-2", "max_scalar=10000"}, 2)
	c := newTestCore(t, plan, 2)
	for range 3 {
		for d := range 2 {
			c.Step(1, Input{Kind: InReply, ID: ids(2)[d],
				Frame: contributionOf(c, 0, rand.New(rand.NewPCG(1, 1)))})
		}
		c.Step(1, Input{Kind: InAppended, N: c.N + 1})
	}
	if c.N != 4 {
		t.Fatalf("the log ends with record %d: %+v", c.N, c.counters)
	}
	good := wire.AppendScalars(nil, 1, 2, 3)
	send := func(rest []byte) {
		r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1,
			Values: good, Rest: rest}
		before := c.counters.WrongControl
		c.Step(1, Input{Kind: InReply, ID: "d0", Frame: r.Append(nil)})
		if got := c.counters.WrongControl - before; got != 1 {
			t.Errorf("%x: %d refused, want 1", rest, got)
		}
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, v := range []wire.ControlVariate{
		{N: 1, Scalars: good},
		{N: 3},
		{N: 3, Scalars: good[:8]},
		{N: 3, Scalars: good[:10]},
		{N: 3, Scalars: append(slices.Clone(good), good...)},
		{N: 3, Scalars: wire.AppendScalars(nil, 1, inf, 3)},
		{N: 3, Scalars: wire.AppendScalars(nil, 1, -inf, 3)},
		{N: 3, Scalars: wire.AppendScalars(nil, nan, 2, 3)},
		{N: 3, Scalars: wire.AppendScalars(nil, 1, 2, -10001)},
	} {
		send(v.Append(nil))
	}
	if c.chain.Taken != 0 || c.chain.Variates() != 0 {
		t.Errorf("%d were counted: %+v", c.chain.Taken, c.chain.Variates())
	}
	// An unknown tail is from a later version, and no control variate.
	for i, rest := range [][]byte{nil, {0xc1}} {
		r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1,
			Values: good, Rest: rest}
		c.Step(1, Input{Kind: InReply, ID: fmt.Sprintf("d%d", i), Frame: r.Append(nil)})
	}
	if c.phase() != appending {
		t.Errorf("the round did not close: %+v", c.counters)
	}
}
