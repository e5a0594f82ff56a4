package client_test

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Parameters are float32 in the client and float64 in the test. So a point has an error of at most
// 2^-24 of its size. In a difference quotient this error becomes 2^-24/mu, and later rounds add
// little to it.
const scalarTolerance = 1e-4

var planCases = []struct {
	name string
	edit func(*plan.Plan)
}{
	{"forward, P=1", func(p *plan.Plan) { p.Perturbations = 1 }},
	{"forward, K=3, P=4", func(p *plan.Plan) { p.Steps, p.Perturbations = 3, 4 }},
	{"central, P=5", func(p *plan.Plan) { p.Difference, p.Perturbations = plan.Central, 5 }},
	{"central, K=2, rademacher, P=9", func(p *plan.Plan) {
		p.Difference, p.Steps, p.Perturbations, p.Distribution = plan.Central, 2, 9, plan.Rademacher
	}},
	{"momentum, K=3", func(p *plan.Plan) { p.Rule, p.Beta, p.Steps = plan.Momentum, 0.9, 3 }},
	{"torch momentum, decay, K=2", func(p *plan.Plan) {
		p.Rule, p.Beta, p.WeightDecay, p.Steps = plan.TorchMomentum, 0.5, 0.1, 2
	}},
	{"decay, rademacher, P=17", func(p *plan.Plan) {
		p.WeightDecay, p.Distribution, p.Perturbations = 0.05, plan.Rademacher, 17
	}},
	{"segments, K=2, central", func(p *plan.Plan) {
		p.Steps, p.Difference = 2, plan.Central
		p.Segments = []plan.Segment{
			{Name: "a", Len: 3000, Fill: plan.UniformFill, Scale: 1, MuScale: 2},
			{Name: "b", Len: 1, StepScale: 0.25},
			{Name: "c", Len: p.Dim - 3001, Fill: plan.NormalFill, Scale: 0.1, MuScale: 0.5,
				StepScale: 3},
		}
	}},
	{"schedules, shards", func(p *plan.Plan) {
		p.StepDecay, p.Shards = plan.InverseSqrt, 7
		p.PerturbationSchedule = []plan.PerturbationPoint{{Round: 2, Perturbations: 6}}
	}},
}

// Devices with different losses keep the same bits as the witness, and send what the paper's
// algorithm says.
func TestRounds(t *testing.T) {
	const dim, devices, rounds = 4200, 3, 3
	for _, tt := range planCases {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := testPlan(dim)
				tt.edit(p)
				h := newHost(t, p)
				var all []*device
				for i := range devices {
					all = append(all, h.device(fmt.Sprintf("d%d", i), bowlLoss(dim, i)))
				}
				for range rounds {
					w, n := h.witness(h.last()), h.last()+1
					a := h.announcement()
					replies := h.round()
					if len(replies) != devices {
						t.Fatalf("got %d contributions, want %d", len(replies), devices)
					}
					for _, r := range replies {
						var i int
						fmt.Sscanf(r.id, "d%d", &i)
						want := algorithm4(w, n, float64(a.StepSize), int(a.Perturbations), r.id, i,
							prng.Shared)
						checkReply(t, r, n, w.Hash().Tip(), want)
					}
				}
				h.announce()
				for _, d := range all {
					h.agrees(d, h.last())
				}
			})
		})
	}
}

func checkReply(t *testing.T, r reply, n uint64, tip wire.Tip, want wantedReply) {
	t.Helper()
	if r.N != n || r.Tip != tip || r.Weight != 1 || len(r.Rest) > 0 {
		t.Errorf("%s: got record %d, tip %v, weight %d, want %d, %v, 1",
			r.id, r.N, r.Tip, r.Weight, n, tip)
	}
	if r.Values.Len() != len(want.scalars) {
		t.Fatalf("%s: got %d scalars, want %d", r.id, r.Values.Len(), len(want.scalars))
	}
	for i, g := range want.scalars {
		if got := r.Values.At(i); !near(got, g, scalarTolerance) {
			t.Errorf("%s: record %d: g[%d] = %v, want %v", r.id, n, i, got, g)
		}
	}
	if !near(r.Loss, want.loss, scalarTolerance) {
		t.Errorf("%s: record %d: loss %v, want %v", r.id, n, r.Loss, want.loss)
	}
}

// Training lowers the loss, so signs and factors are right in the whole loop.
func TestTraining(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(20)
		p.Perturbations, p.StepSize = 10, 1
		h := newHost(t, p)
		d := h.device("d0", bowlLoss(20, 2))
		first := h.round()[0].Loss
		for range 200 {
			h.round()
		}
		if last := h.round()[0].Loss; last > first/10 {
			t.Errorf("the loss went from %v to %v in 200 rounds, want a tenth", first, last)
		}
		d.stop()
	})
}
