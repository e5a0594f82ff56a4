package cost_test

import (
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// TestAccountIsTheCost: for every preset the parts of a round add up to its bytes, and no part of
// Floor exceeds the same part of Down.
func TestAccountIsTheCost(t *testing.T) {
	plans := map[string]*plan.Plan{"lean": recipe(t), "lean, weights": recipe(t)}
	plans["lean, weights"].Weights = plan.BySamples
	plans["secure"], plans["secure, agreed"] = secure(t, 0), secure(t, 1)
	for _, name := range preset.Names() {
		plans[name] = planOf(t, name)
		plans[name+" of 100"] = planOf(t, name)
		if p := plans[name+" of 100"]; p.Members > 1 {
			p.Members = 100
		}
	}
	for name, p := range plans {
		for _, round := range []uint64{1, 2, 1000, 1 << 40} {
			in := cost.Input{Round: round, IDLen: 8}
			c, a := cost.Of(p, in), cost.AccountOf(p, in)
			if a.Up.Sum() != c.Up.Socket || a.Down.Sum() != c.Down.Socket {
				t.Errorf("%s: round %d: %d up and %d down in parts, %d and %d in all", name, round,
					a.Up.Sum(), a.Down.Sum(), c.Up.Socket, c.Down.Socket)
			}
			if round == 1 {
				continue // round 1 carries the plan
			}
			least := []int{a.Up.Values, a.Up.Chain, a.Up.Framing, a.Down.Fields, a.Down.Record,
				a.Down.Values - a.Floor.Values, a.Down.Chain - a.Floor.Chain,
				a.Down.Steps - a.Floor.Steps, a.Down.Weights - a.Floor.Weights,
				a.Down.Who - a.Floor.Who}
			for i, v := range least {
				if v < 0 {
					t.Errorf("%s: round %d: part %d is %d below its least: %+v", name, round, i, -v, a)
				}
			}
		}
	}
}

// recipe returns a relay plan with 10 contributors of 100 members, 19 forward differences of half
// precision, and the rule normalized.
func recipe(t *testing.T) *plan.Plan {
	t.Helper()
	p := planOf(t, "fedzo")
	p.Steps, p.Perturbations, p.Members, p.Target, p.Quorum = 1, 19, 100, 10, 5
	p.Distribution, p.Precision, p.MaxScalar = plan.Rademacher, plan.Half, 65504
	p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
	p.StepDecay, p.Rounds = plan.Cosine, 2000
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func nearFloor(t *testing.T, p *plan.Plan) {
	t.Helper()
	if err := valid.Plan(p); err != nil || !compact.For(p) {
		t.Fatalf("no plan, or no lean frames: %v", err)
	}
	a := cost.AccountOf(p, cost.Input{Round: 1000, IDLen: 8})
	got, floor, most := a.Down.Sum(), a.Floor.Sum(), 1.15
	if floor < 80 {
		most = 1.2 // 50 scalars of 2 bits
	}
	if float64(got) > most*float64(floor) || got < floor {
		t.Errorf("%d of %d, P = %d, %v, decay %d: %d bytes, and the least is %d: %+v of %+v", p.Target,
			p.Members, p.Perturbations, p.Precision, p.StepDecay, got, floor, a.Down, a.Floor)
	}
}

// TestNearTheFloor: in a relay round a device receives at most 15 % more bytes than Floor, for few
// and many contributors and scalars, with a step size that changes and with a constant step size.
func TestNearTheFloor(t *testing.T) {
	for _, members := range []uint32{20, 100, 1000, 1_000_000} {
		for _, target := range []uint32{5, 10, 20} {
			for _, perturbations := range []uint32{10, 19, 190} {
				for _, decay := range []plan.StepDecay{plan.Constant, plan.Cosine} {
					for _, precision := range []plan.Precision{plan.Half, plan.Int8, plan.Int4, plan.Int2} {
						p := recipe(t)
						p.Members, p.Target, p.Perturbations = members, target, perturbations
						p.StepDecay, p.Precision = decay, precision
						nearFloor(t, p)
					}
				}
			}
		}
	}
	p := recipe(t)
	p.Precision = plan.Int4
	if got := cost.AccountOf(p, cost.Input{Round: 1000, IDLen: 8}).Down.Sum(); got != 185 {
		t.Errorf("%d bytes with 4 bits", got)
	}
	p.Precision = plan.Half
	lean := cost.AccountOf(p, cost.Input{Round: 1000, IDLen: 8})
	p.ServerRule, p.StepDecay = plan.ServerMean, plan.Constant
	full := cost.AccountOf(p, cost.Input{Round: 1000, IDLen: 8})
	t.Logf("the recipe: %d bytes down, %d in full, at least %d: %+v, %+v", lean.Down.Sum(),
		full.Down.Sum(), lean.Floor.Sum(), lean.Down, lean.Floor)
	if lean.Down.Sum() != 445 || full.Down.Sum() != 522 {
		t.Errorf("%d bytes down, %d in full", lean.Down.Sum(), full.Down.Sum())
	}
}

// TestCostOfJoiningLate: to catch up a thousand rounds a device receives their records in the log's
// form, two or three bytes for the length of each record, and few other bytes.
func TestCostOfJoiningLate(t *testing.T) {
	for name, p := range map[string]*plan.Plan{"recipe": recipe(t), "zofl": planOf(t, "zofl"),
		"scaffold-1": planOf(t, "scaffold-1")} {
		in := cost.Input{Round: 1000}
		c := cost.Of(p, in)
		least, most := 1000*(c.Record+2*c.Records), 1000*(c.Record+3*c.Records)
		replies := most/wire.MaxFrame + 1
		if got := cost.Late(p, in, 1000); got.Payload < least || got.Payload > most+32*replies ||
			got.Socket < got.Payload+40*(replies-1) || got.Socket > got.Payload+120*(replies+1) {
			t.Errorf("%s: %+v, want %d to %d in %d replies", name, got, least, most,
				replies)
		}
	}
}
