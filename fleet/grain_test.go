package fleet_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/wire/preset"
)

const clusters, inputs = 6, 20

// A cloud has points around the centers of clusters, which a linear model tells apart.
type cloud struct {
	in    [][]float32
	label []int
}

// clouds returns those of some devices, with as many points each. The centers are the same.
func clouds(n, points int, size float32) []cloud {
	rng := rand.New(rand.NewPCG(7, 0))
	centers := make([]float64, clusters*inputs)
	for i := range centers {
		centers[i] = 0.6 * rng.NormFloat64()
	}
	list := make([]cloud, n)
	for i := range list {
		for range points {
			k, in := rng.IntN(clusters), make([]float32, inputs)
			for j := range in {
				in[j] = size * float32(centers[k*inputs+j]+rng.NormFloat64())
			}
			list[i].in, list[i].label = append(list[i].in, in), append(list[i].label, k)
		}
	}
	return list
}

// scores returns those of a point: x has the weights of each cluster, and then its bias.
func scores(x, in []float32) (s [clusters]float64) {
	for k := range s {
		w := x[k*(inputs+1):]
		s[k] = float64(w[inputs])
		for j, v := range in {
			s[k] += float64(w[j]) * float64(v)
		}
	}
	return s
}

// measure returns the mean cross entropy and the share of errors on some of the points.
func (c *cloud) measure(x []float32, size int, seed uint64) (entropy, errors float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range size {
		i := rng.IntN(len(c.in))
		s, best, sum := scores(x, c.in[i]), 0, 0.0
		for k, v := range s {
			if v > s[best] {
				best = k
			}
		}
		for _, v := range s {
			sum += math.Exp(v - s[best])
		}
		entropy += math.Log(sum) + s[best] - s[c.label[i]]
		if best != c.label[i] {
			errors++
		}
	}
	return entropy / float64(size), errors / float64(size)
}

// TestLossesOfAnyGrain: the preset zofl, untouched, trains on losses of any size, on inputs of
// pixels, on losses of few bits, and on a share of errors. docs/faq.md has what it logs.
func TestLossesOfAnyGrain(t *testing.T) {
	entropy := func(e, _ float64) float64 { return e }
	rounded := func(grain float64) func(e, _ float64) float64 {
		return func(e, _ float64) float64 { return math.Round(e*grain) / grain }
	}
	for _, tt := range []struct {
		name  string
		size  float32 // of inputs
		loss  func(entropy, errors float64) float64
		right float64 // on points that nobody trains on, at least
	}{
		{"cross entropy", 1, entropy, 0.85},
		{"times 1e6", 1, func(e, _ float64) float64 { return 1e6 * e }, 0.85},
		{"times 1e-6", 1, func(e, _ float64) float64 { return 1e-6 * e }, 0.85},
		{"inputs times 255", 255, entropy, 0.85},
		{"rounded to 1/2048", 1, rounded(2048), 0.85},
		{"rounded to 1/256", 1, rounded(256), 0.85},
		{"rounded to 1/16", 1, rounded(16), 0.85},
		{"share of errors", 1, func(_, e float64) float64 { return e }, 0.8},
	} {
		const devices, rounds = 4, 120
		plan, err := preset.New("zofl", "grain", clusters*(inputs+1))
		if err != nil {
			t.Fatal(err)
		}
		plan.Members, plan.Target, plan.Quorum, plan.Rounds = devices, devices, devices, rounds
		plan.RunKey = make([]byte, 32)
		all := clouds(devices+1, 500, tt.size)
		var list []objective.Objective
		for i := range devices {
			list = append(list, objective.Func(int(plan.Dim),
				func(_ context.Context, x []float32, b objective.Batch) (float64, error) {
					e, wrong := all[i].measure(x, b.Size, b.Seed)
					return tt.loss(e, wrong), nil
				}))
		}
		result, err := fleet.Run(t.Context(), plan, list, fleet.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		_, wrong := all[devices].measure(result.Params, 5000, 1)
		last := result.Rounds[len(result.Rounds)-1]
		t.Logf("%-18s mu %-8.2g %.3f right", tt.name, last.Mu, 1-wrong)
		if 1-wrong < tt.right {
			t.Errorf("%s: %.3f right, want %v", tt.name, 1-wrong, tt.right)
		}
	}
}
