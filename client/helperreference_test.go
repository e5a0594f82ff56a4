package client_test

import (
	"context"
	"math"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// bowl is the mean of (x[i] - target[i])^2. The target differs by device and by minibatch.
func bowl[T float32 | float64](x []T, device int, b objective.Batch) float64 {
	shift := float64(device) + float64(b.Seed%1000)/1000
	sum := 0.0
	for i, v := range x {
		e := float64(v) - shift - 0.1*float64(i%7)
		sum += e * e
	}
	return sum / float64(len(x))
}

// bowlLoss returns the objective whose loss is bowl.
func bowlLoss(dim, device int) objective.Objective {
	return objective.Func(dim, func(_ context.Context, x []float32, b objective.Batch) (float64,
		error) {
		return bowl(x, device, b), nil
	})
}

// wantedReply is the reply of one device, computed without package client.
type wantedReply struct {
	scalars []float64
	loss    float64
}

// algorithm4 is DeComFL's Algorithm 4, lines 13-25, all in float64. algorithm4 returns the reply
// for record n of a device whose state is the state of w.
func algorithm4(
	w *replica.Replica, n uint64, eta float64, perturbations int,
	id string, device int, source uint32,
) wantedReply {
	pl := w.Plan()
	x, m := wide(w.Params()), wide(w.Momentum())
	start := wide(w.Params())
	mu, step := factors(pl)
	var out wantedReply
	steps := int(pl.Steps)
	if w.Phase() == 1 {
		steps = 1
	}
	for k := range steps {
		b := objective.Batch{Seed: plan.BatchSeed(pl.Run, id, n, uint32(k))}
		at := func(z []float64, side float64) float64 {
			probe := make([]float64, len(x))
			for i := range probe {
				probe[i] = x[i] + side*float64(pl.Mu)*mu[i]*z[i]
			}
			return bowl(probe, device, b)
		}
		v := make([]float64, len(x))
		base, loss := bowl(x, device, b), 0.0
		for p := range perturbations {
			z := direction(pl, n, k, p, source)
			var g float64
			if pl.Difference == plan.Forward {
				g = (at(z, 1) - base) / float64(pl.Mu)
				loss += base
			} else {
				g = (at(z, 1) - at(z, -1)) / (2 * float64(pl.Mu))
				loss += (at(z, 1) + at(z, -1)) / 2
			}
			out.scalars = append(out.scalars, g)
			for i := range v {
				v[i] += gain(pl) * g * z[i] / float64(perturbations)
			}
		}
		for i := range v {
			v[i] += float64(pl.Prox) * (x[i] - start[i])
		}
		if k == 0 {
			out.loss = loss / float64(perturbations)
		}
		descend(pl, x, m, v, eta, step)
	}
	return out
}

// descend makes one local step along the estimate v.
func descend(p *plan.Plan, x, m, v []float64, eta float64, step []float64) {
	beta := float64(p.Beta)
	for i := range x {
		d := v[i] + float64(p.WeightDecay)*x[i]
		switch p.Rule {
		case plan.Momentum:
			m[i] = beta*m[i] + (1-beta)*d
			d = m[i]
		case plan.TorchMomentum:
			m[i] = beta*m[i] + d
			d = m[i]
		}
		x[i] -= eta * step[i] * d
	}
}

// factors returns each parameter's factors on mu and on the step size.
func factors(plan *plan.Plan) (mu, step []float64) {
	for _, s := range plan.Layout() {
		for range s.Len {
			mu, step = append(mu, float64(s.MuScale)), append(step, float64(s.StepScale))
		}
	}
	return mu, step
}

// direction returns z of a step; on a sphere z/|z|.
func direction(pl *plan.Plan, n uint64, k, p int, source uint32) []float64 {
	z := make([]float32, pl.Dim)
	prng.Fill(z, prng.Direction{
		Key: prng.RecordKey(pl.RunKey, n), Step: uint16(k), Perturbation: uint16(p),
		Source: source,
		Dist:   pl.Distribution.Elements(),
	}, 0)
	w := wide(z)
	if pl.Distribution == plan.Sphere {
		norm := 0.0
		for _, v := range w {
			norm += v * v
		}
		for i := range w {
			w[i] /= math.Sqrt(norm)
		}
	}
	return w
}

// gain is the factor of a scalar in an estimate: d on a sphere.
func gain(p *plan.Plan) float64 {
	if p.Distribution == plan.Sphere {
		return float64(p.Dim)
	}
	return 1
}

func wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for i := range v {
		w[i] = float64(v[i])
	}
	return w
}

// near says whether two numbers differ by at most tolerance, relative to the
// larger of want and 1.
func near(got float32, want, tolerance float64) bool {
	return math.Abs(float64(got)-want) <= tolerance*max(1, math.Abs(want))
}
