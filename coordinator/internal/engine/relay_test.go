package engine

import (
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// TestRelayNearItsLimit has as many contributors as a relayed record can hold.
func TestRelayNearItsLimit(t *testing.T) {
	const devices = 14
	plan := methodPlan(t, []string{"sharing=per-client", "transport=relay", "weights=samples",
		"max_weight=1048576"}, devices)
	plan.OverSample, plan.Quorum, plan.AnnounceBudget = 2, 14, 32<<10
	for plan.Perturbations = 1100; valid.Plan(plan) != nil; plan.Perturbations-- {
	}
	if plan.Perturbations < 1050 {
		t.Fatalf("P = %d fits a record only", plan.Perturbations)
	}
	c := newTestCore(t, plan, 40)
	names := ids(40)
	for range 4 {
		n := c.N + 1
		for d := range names {
			r := wire.Reply{Kind: wire.Contribution, N: n, Tip: c.Hash.Tip(),
				Weight: plan.MaxWeight - uint32(d), Loss: 1}
			for p := range c.round.scalars {
				r.Values = wire.AppendScalars(r.Values, float32(d)+float32(p)/1024)
			}
			c.Step(1, Input{Kind: InReply, ID: names[d], Frame: r.Append(nil)})
		}
		r, err := wire.DecodeRecord(c.next.frame)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.next.frame) > wire.MaxRecord || len(c.next.frame) < wire.MaxRecord-1024 {
			t.Errorf("record %d has %d bytes, want %d nearly", n, len(c.next.frame), wire.MaxRecord)
		}
		checkRelayed(t, r.Round, devices)
		for _, o := range c.Step(2, Input{Kind: InAppended, N: n}) {
			if o.Kind == OutAnnounce && len(o.Frame) > wire.MaxFrame {
				t.Errorf("an announcement has %d bytes", len(o.Frame))
			}
		}
		for _, o := range c.Step(c.announcer.at, Input{Kind: InTick}) {
			if o.Kind == OutAnnounce && len(o.Frame) > wire.MaxFrame {
				t.Errorf("a repeated announcement has %d bytes", len(o.Frame))
			}
		}
	}
	if got := c.counters; got.Contributions != 4*devices ||
		got.Late+got.Unsampled != 4*(40-devices) {
		t.Errorf("counted %+v", got)
	}
}

// checkRelayed compares a round with what TestRelayNearItsLimit sent.
func checkRelayed(t *testing.T, r *wire.Round, devices int) {
	t.Helper()
	if len(r.Terms) != devices || len(r.Weights) != devices || int(r.Contributors) != devices {
		t.Fatalf("%d terms, %d weights, %d contributors, want %d", len(r.Terms), len(r.Weights),
			r.Contributors, devices)
	}
	for i, term := range r.Terms {
		slot := term.Source - 1
		last := term.Scalars.Len() - 1
		if term.Back != 0 || term.Source != prng.Slot(slot) ||
			r.Weights[i] != plan.MaxWeight-slot ||
			term.Scalars.At(last) != float32(slot)+float32(last)/1024 {
			t.Errorf("term %d is of slot %d, weight %d, ends with %v", i, slot, r.Weights[i],
				term.Scalars.At(last))
		}
	}
}
