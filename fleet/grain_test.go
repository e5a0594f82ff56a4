package fleet_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

const clusters, inputs = 6, 20

// A cloud has points around the centers of clusters. A linear model can separate the clusters.
type cloud struct {
	in    [][]float32
	label []int
}

// clouds returns the clouds of n devices, with the same number of points and the same centers.
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

// scores returns a point's score for each cluster. x has the weights of each cluster, and then all
// biases.
func scores(x, in []float32) (s [clusters]float64) {
	for k := range s {
		s[k] = float64(x[clusters*inputs+k])
		for j, v := range in {
			s[k] += float64(x[k*inputs+j]) * float64(v)
		}
	}
	return s
}

// means are mean losses of points: the cross entropy, the hinge loss, and the share of errors.
type means struct{ entropy, hinge, errors float64 }

// measure returns the mean losses of some of the points.
func (c *cloud) measure(x []float32, size int, seed uint64) (m means) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range size {
		i := rng.IntN(len(c.in))
		s, best, sum, hinge := scores(x, c.in[i]), 0, 0.0, 0.0
		right := s[c.label[i]]
		for k, v := range s {
			if v > s[best] {
				best = k
			}
			if k != c.label[i] {
				hinge = max(hinge, 1+v-right)
			}
		}
		for _, v := range s {
			sum += math.Exp(v - s[best])
		}
		m.entropy += (math.Log(sum) + s[best] - right) / float64(size)
		m.hinge += hinge / float64(size)
		if best != c.label[i] {
			m.errors += 1 / float64(size)
		}
	}
	return m
}

// learns skips a test with -short. Such a test only measures how far runs learn, and the race
// detector covers the same code in TestPresets and TestModel.
func learns(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it measures long runs")
	}
}

// TestLossesOfAnyGrain: the preset zofl, with no field changed, trains on losses of any size, on
// pixels as inputs, on losses of few bits, on a share of errors, and on a hinge loss. docs/faq.md
// has the results that the test logs.
func TestLossesOfAnyGrain(t *testing.T) {
	learns(t)
	entropy := func(m means) float64 { return m.entropy }
	times := func(by float64) func(means) float64 {
		return func(m means) float64 { return by * m.entropy }
	}
	rounded := func(grain float64) func(means) float64 {
		return func(m means) float64 { return math.Round(m.entropy*grain) / grain }
	}
	errors := func(m means) float64 { return m.errors }
	const random = "linear:20x6"
	for _, tt := range []struct {
		name  string
		start string  // layers of random weights; zeros without
		size  float32 // of inputs
		loss  func(means) float64
		right float64 // on points that nobody trains on, at least
	}{
		{"cross entropy", "", 1, entropy, 0.85},
		{"times 1e6", "", 1, times(1e6), 0.85},
		{"times 1e-6", "", 1, times(1e-6), 0.85},
		{"inputs times 255", "", 255, entropy, 0.85},
		{"rounded to 1/2048", "", 1, rounded(2048), 0.85},
		{"rounded to 1/256", "", 1, rounded(256), 0.85},
		{"rounded to 1/16", "", 1, rounded(16), 0.85},
		{"share of errors", "", 1, errors, 0.8},
		{"errors, random start", random, 1, errors, 0.8},
		{"hinge", "", 1, func(m means) float64 { return m.hinge }, 0.85},
	} {
		const devices, rounds = 4, 120
		plan, err := preset.New("zofl", "grain", clusters*(inputs+1))
		if err != nil {
			t.Fatal(err)
		}
		plan.Members, plan.Target, plan.Quorum, plan.Rounds = devices, devices, devices, rounds
		plan.RunKey = make([]byte, 32)
		if tt.start != "" {
			if err := planfile.SetLayers(plan, tt.start); err != nil {
				t.Fatal(err)
			}
		}
		all := clouds(devices+1, 500, tt.size)
		var list []objective.Objective
		for i := range devices {
			list = append(list, objective.Func(int(plan.Dim),
				func(_ context.Context, x []float32, b objective.Batch) (float64, error) {
					return tt.loss(all[i].measure(x, b.Size, b.Seed)), nil
				}))
		}
		result, err := fleet.Run(t.Context(), plan, list, fleet.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		right := 1 - all[devices].measure(result.Params, 5000, 1).errors
		last := result.Rounds[len(result.Rounds)-1]
		t.Logf("%-20s mu %-8.2g %.3f right", tt.name, last.Mu, right)
		if right < tt.right {
			t.Errorf("%s: %.3f right, want %v", tt.name, right, tt.right)
		}
	}
}

// TestFirstLosses: the preset, with no field changed, trains on losses that people try first,
// whatever the run's key is. Along half of the directions of two parameters these losses are
// constant, except for rounding.
func TestFirstLosses(t *testing.T) {
	learns(t)
	losses := map[string]func(v float64) float64{
		"square":   func(v float64) float64 { return (v - 3) * (v - 3) },
		"distance": func(v float64) float64 { return math.Abs(v - 1e5) },
	}
	const seeds byte = 16
	for name, loss := range losses {
		sum := func(_ context.Context, x []float32, _ objective.Batch) (f float64, err error) {
			for _, v := range x {
				f += loss(float64(v))
			}
			return f, nil
		}
		for _, dim := range []int{1, 2, 4, 10} {
			for seed := range seeds {
				plan, err := preset.New([]string{"zofl", "zofl-shared"}[seed%2], "first", uint64(dim))
				if err != nil {
					t.Fatal(err)
				}
				plan.Members, plan.Target, plan.Quorum, plan.Rounds = 1, 1, 1, 200
				plan.RunKey = append(make([]byte, 31), seed)
				device := objective.Func(dim, sum)
				result, err := fleet.Run(t.Context(), plan, []objective.Objective{device}, fleet.Options{})
				if err != nil {
					t.Errorf("%s, %d parameters, key %d: %v", name, dim, seed, err)
					continue
				}
				before := float64(dim) * loss(0)
				if f, _ := sum(nil, result.Params, objective.Batch{}); f > 0.05*before {
					t.Errorf("%s, %d parameters, key %d: %v from %v", name, dim, seed, f, before)
				}
			}
		}
	}
}

// TestWholeNumbers: the preset, with no field changed, trains on losses in whole numbers, whatever
// the run's key is. Along many directions such a loss has no slope, and jumps by 1 beside the
// start: x is exactly where a number changes, and single-precision rounding decides. Where mu came
// of such a jump, no scalar was small enough to send, and the run paused for ever.
func TestWholeNumbers(t *testing.T) {
	learns(t)
	square := func(v float32) float32 { return (v - 1) * (v - 1) }
	for name, loss := range map[string]struct {
		scale float32
		term  func(v float32) float32
	}{
		"hundredths":      {100, square},
		"ten thousandths": {10000, square},
		"a distance":      {100, func(v float32) float32 { return float32(math.Abs(float64(v - 1))) }},
		"a fourth power":  {1000, func(v float32) float32 { return square(v) * square(v) }},
	} {
		count := func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
			var sum float32
			for _, v := range x {
				sum += loss.term(v)
			}
			return math.Trunc(float64(loss.scale * sum)), nil
		}
		const seeds byte = 16
		for _, dim := range []int{4, 10} {
			for seed := range seeds {
				plan, err := preset.New("zofl", "whole", uint64(dim))
				if err != nil {
					t.Fatal(err)
				}
				plan.Members, plan.Target, plan.Quorum, plan.Rounds = 1, 1, 1, 60
				plan.RunKey = append(make([]byte, 31), seed)
				device := objective.Func(dim, count)
				result, err := fleet.Run(t.Context(), plan, []objective.Objective{device}, fleet.Options{})
				if err != nil {
					t.Errorf("%s, %d parameters, key %d: %v", name, dim, seed, err)
					continue
				}
				before, _ := count(nil, make([]float32, dim), objective.Batch{})
				if f, _ := count(nil, result.Params, objective.Batch{}); f > 0.2*before {
					t.Errorf("%s, %d parameters, key %d: %v from %v", name, dim, seed, f, before)
				}
			}
		}
	}
}
