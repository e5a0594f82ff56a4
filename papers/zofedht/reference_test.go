package zofedht

import (
	"fmt"
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/reference"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// TestZOFedHTIsTheReference compares an experiment with the paper's pseudo-code in float64,
// with the same directions, cohorts and minibatches but its own loss. Shares have 150
// samples, more than a minibatch.
func TestZOFedHTIsTheReference(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	for _, split := range []string{"iid", "noniid"} {
		for _, m := range methods {
			t.Run(split+"-"+m.name, func(t *testing.T) {
				t.Parallel()
				x := tinyZOFedHT(t, split, "lr")
				x.Env.Generated, x.size.samples, x.size.clients = 600, 600, 4
				z := setting{m, false, .05, 0}
				if m.subspace {
					z.alpha = .5
				}
				s, err := x.load("mnist")
				if err != nil {
					t.Fatal(err)
				}
				r, err := x.one(s, z, 1)
				if err != nil {
					t.Fatal(err)
				}
				want, way := simulate(t, x, s, z)
				for i, w := range want {
					// Points x + mu z are float32, which gives a scalar a relative error of
					// about 1e-4.
					if diff := math.Abs(float64(r.Params[i]) - w); diff > 2e-3*way {
						t.Fatalf("x[%d] = %v after %d rounds, want %v within %v",
							i, r.Params[i], r.Curve.Last(), w, 2e-3*way)
					}
				}
			})
		}
	}
}

// simulate returns the reference's final x, and the longest way of any parameter.
func simulate(t *testing.T, x *trial, s *set,
	z setting) (end []float64, way float64) {
	t.Helper()
	tr := x.training(s, z)
	p, err := run.Plan(tr.Preset, tr.Name, 1, tr.Task.Dim, tr.Clients, tr.Asked)
	if err != nil {
		t.Fatal(err)
	}
	tr.Set(p)
	h := &reference.ZOFedHT{
		Problem: reference.Problem{
			Dim: tr.Task.Dim, Loss: logisticOf(t, x, s, p),
			Direction: func(client int, at reference.At, q int) []float64 {
				return directionOf(p, client, at, q, prng.Directions, tr.Task.Dim)
			},
		},
		K: int(p.Steps), P: int(p.Perturbations), Mu: 1e-4, Eta: z.eta, Tau: tau, Alpha: z.alpha,
		Coordinates: func(client int, at reference.At, q int) []float64 {
			return directionOf(p, client, at, q, prng.Subspace, tau)
		},
	}
	state := &reference.Trajectory{X: make([]float64, tr.Task.Dim)}
	cohort := wire.Cohort{Sampled: uint64(x.size.asked), Members: p.Members}
	for r := range int(x.size.rounds) {
		n := uint64(r + 2) // record 1 is the plan
		var sampled []int
		for client := range x.size.clients {
			if cohort.Has(p.Run, n, 0, uint32(client), id(client)) {
				sampled = append(sampled, client)
			}
		}
		h.Round(state, r, n, sampled)
	}
	for _, v := range state.X {
		way = max(way, math.Abs(v))
	}
	return state.X, way
}

func id(client int) string { return fmt.Sprint("c", client) }

// directionOf returns a client's normal vector by its address.
func directionOf(p *plan.Plan, client int, at reference.At, q int, domain prng.Domain,
	n int) []float64 {
	v := make([]float32, n)
	prng.Fill(v, prng.Direction{
		Key: prng.RecordKey(p.RunKey, at.N), Step: uint16(at.K), Perturbation: uint16(q),
		Source: prng.Slot(uint32(client)), Domain: domain, Dist: prng.Normal,
	}, 0)
	out := make([]float64, n)
	for i := range v {
		out[i] = float64(v[i])
	}
	return out
}

// logisticOf returns the logistic loss of a client's minibatch in float64, for pixels from
// 0 to 1 and two classes of digits.
func logisticOf(t *testing.T, x *trial, s *set, p *plan.Plan) func(int, reference.At,
	[]float64) float64 {
	t.Helper()
	shares, err := x.shares(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	read, err := x.Env.Images(s.name)
	if err != nil {
		t.Fatal(err)
	}
	return func(client int, at reference.At, w []float64) float64 {
		batch := data.NewBatcher(shares[client]).Pick(int(p.Batch),
			plan.BatchSeed(p.Run, id(client), at.N, uint32(at.K)))
		sum := 0.0
		for _, i := range batch {
			margin := 0.0
			for j, pixel := range read.Train.At(i) {
				margin += w[j] * float64(pixel) / 255
			}
			if read.Train.Labels[i] < 5 {
				margin = -margin
			}
			sum += math.Log1p(math.Exp(-margin))
		}
		return sum / float64(len(batch))
	}
}
