package fleet_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// These are the sizes of a softmax regression of overlapping classes. It has classes*(features+1)
// parameters.
const (
	classes, features = 5, 20
	samples           = 300 // of a device
)

type sample struct {
	x     [features + 1]float64
	class int
}

// draw returns samples around the classes' centers.
func draw(rng *rand.Rand, n int) []sample {
	centers := rand.New(rand.NewPCG(1, 1))
	var center [classes][features]float64
	for c := range center {
		for i := range center[c] {
			center[c][i] = 0.5 * centers.NormFloat64()
		}
	}
	list := make([]sample, n)
	for j := range list {
		s := &list[j]
		s.class, s.x[features] = rng.IntN(classes), 1
		for i := range features {
			s.x[i] = center[s.class][i] + rng.NormFloat64()
		}
	}
	return list
}

// crossEntropy returns the mean loss, and the share of samples that the model classifies right.
func crossEntropy(w []float32, list []sample) (loss, right float64) {
	for _, s := range list {
		var z [classes]float64
		best, sum := 0, 0.0
		for c := range z {
			for i, x := range s.x {
				z[c] += float64(w[c*len(s.x)+i]) * x
			}
			if z[c] > z[best] {
				best = c
			}
		}
		for c := range z {
			sum += math.Exp(z[c] - z[best])
		}
		loss += math.Log(sum) + z[best] - z[s.class]
		if best == s.class {
			right++
		}
	}
	return loss / float64(len(list)), right / float64(len(list))
}

// softmax returns the objective of a device.
func softmax(device int) objective.Objective {
	list := draw(rand.New(rand.NewPCG(2, uint64(device))), samples)
	return objective.Func(classes*(features+1),
		func(_ context.Context, w []float32, b objective.Batch) (float64, error) {
			rng := rand.New(rand.NewPCG(b.Seed, 3))
			batch := make([]sample, b.Size)
			for i := range batch {
				batch[i] = list[rng.IntN(len(list))]
			}
			loss, _ := crossEntropy(w, batch)
			return loss, nil
		})
}

// Scalars of few bits hardly slow learning down: after the same number of rounds, held-out losses
// are near those with float32 scalars.
func TestFewBitsLearnAsWell(t *testing.T) {
	learns(t)
	held := draw(rand.New(rand.NewPCG(4, 4)), 2000)
	trained := func(precision plan.Precision) (loss, right float64) {
		for run := range byte(2) {
			p, err := preset.Unbound("fedzo", "bits", classes*(features+1))
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.RunKey {
				p.RunKey[i] = run
			}
			p.Distribution, p.Difference, p.Steps, p.Perturbations = plan.Rademacher, plan.Forward, 1, 19
			p.Precision, p.MaxScalar, p.Batch, p.Rounds = precision, plan.MaxHalf, 64, 60
			p.ServerRule, p.ServerBeta1, p.ServerBeta2, p.StepSize = plan.ServerNormalized, 0.9, 0.99,
				0.02
			var devices []objective.Objective
			for i := range 8 {
				devices = append(devices, softmax(i))
			}
			r, err := fleet.Run(t.Context(), p, devices, fleet.Options{})
			if err != nil {
				t.Fatal(err)
			}
			l, a := crossEntropy(r.Params, held)
			loss, right = loss+l/2, right+a/2
		}
		return loss, right
	}
	want, right := trained(plan.Single)
	if start := math.Log(classes); want > 0.7*start {
		t.Fatalf("float32 learns little: loss %v, at the start %v", want, start)
	}
	for precision, most := range map[plan.Precision]float64{
		plan.Int8: 1.01, plan.Int4: 1.03, plan.Int2: 1.10} {
		loss, got := trained(precision)
		t.Logf("%v: loss %.4f, %.1f %% right; float32: %.4f, %.1f %%", precision, loss, 100*got, want,
			100*right)
		if loss > most*want {
			t.Errorf("%v: loss %v, with float32 %v", precision, loss, want)
		}
	}
}

// The traffic of a run counts scalars, whatever their precision, also in compact announcements.
func TestScalarsAreCounted(t *testing.T) {
	const rounds, devices, scalars = 4, 3, 7
	for _, precision := range []plan.Precision{plan.Single, plan.Half, plan.Int8, plan.Int4,
		plan.Int2} {
		p, err := preset.Unbound("fedzo", "bits", classes*(features+1))
		if err != nil {
			t.Fatal(err)
		}
		p.Steps, p.Perturbations, p.Rounds, p.Batch, p.StepSize = 1, scalars, rounds, 8, 1e-3
		p.Precision, p.MaxScalar, p.Target, p.Quorum = precision, plan.MaxHalf, devices, devices
		p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
		list := []objective.Objective{softmax(0), softmax(1), softmax(2)}
		r, err := fleet.Run(t.Context(), p, list, fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		up, down := r.Traffic.Up.Scalars, r.Traffic.Down.Scalars
		if up != rounds*devices*scalars || down != devices*up {
			t.Errorf("%v: %d scalars up and %d down, want %d and %d times as many", precision, up, down,
				rounds*devices*scalars, devices)
		}
	}
}
