package leak

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// fleet draws histograms, and observations of them: each device alone, or in each round the mean of
// those that chosen returns.
func fleet(devices, labels, rounds int, clip, noise float64,
	chosen func(round int) []int) (truth [][]float64, seen []Observation) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range devices {
		h := make([]float64, labels)
		for c := range h {
			h[c] = math.Pow(rng.Float64(), 4)
		}
		sum := mean(h) * float64(labels)
		for c := range h {
			h[c] /= sum
		}
		truth = append(truth, h)
	}
	for n := range rounds {
		o := Observation{Devices: chosen(n), Clip: clip}
		for range 8 {
			slope := make([]float64, labels)
			for c := range slope {
				slope[c] = rng.NormFloat64()
			}
			o.Slopes = append(o.Slopes, slope)
		}
		o.Scalars = make([]float64, len(o.Slopes))
		for _, d := range o.Devices {
			factor, sum := 1.0, 0.0
			for _, slope := range o.Slopes {
				sum += math.Pow(dot(slope, truth[d]), 2)
			}
			if clip > 0 {
				factor = min(1, clip/math.Sqrt(sum))
			}
			for s, slope := range o.Slopes {
				o.Scalars[s] += factor * dot(slope, truth[d]) / float64(len(o.Devices))
			}
		}
		for s := range o.Scalars {
			o.Scalars[s] += noise * rng.NormFloat64()
		}
		seen = append(seen, o)
	}
	return truth, seen
}

func alone(devices int) func(int) []int {
	return func(n int) []int { return []int{n % devices} }
}

// TestHistograms: single scalars tell all, with noise less, and cut ones too. The mean of changing
// cohorts tells all too, and the mean of all devices nothing about who has what.
func TestHistograms(t *testing.T) {
	const devices, labels = 6, 5
	half := func(n int) []int {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		return rng.Perm(devices)[:3]
	}
	everyone := func(int) []int { return []int{0, 1, 2, 3, 4, 5} }
	for name, c := range map[string]struct {
		clip, noise float64
		chosen      func(int) []int
		low, high   float64 // of the L1 error
	}{
		"alone":    {0, 0, alone(devices), 0, 1e-6},
		"noise":    {0, 1, alone(devices), 0.05, 0.6},
		"much":     {0, 100, alone(devices), 0.8, 2},
		"cut":      {0.2, 0, alone(devices), 0, 1e-3},
		"some cut": {1.8, 0, alone(devices), 0, 1e-3},
		"cohorts":  {0, 0, half, 0, 0.01},
		"everyone": {0, 0, everyone, 0.3, 2},
	} {
		truth, seen := fleet(devices, labels, 240, c.clip, c.noise, c.chosen)
		got := Histograms(devices, labels, seen)
		if off := L1(got, truth); !(off >= c.low && off <= c.high) {
			t.Errorf("%s: L1 error %v, want %v to %v", name, off, c.low, c.high)
		}
		for i, h := range got {
			if sum := mean(h) * labels; math.Abs(sum-1) > 1e-9 || slices.Min(h) < 0 {
				t.Errorf("%s: device %d has %v", name, i, h)
			}
		}
		if name == "everyone" && L1(got[:1], got[1:2]) > 1e-9 {
			t.Errorf("the mean of all tells devices apart: %v and %v", got[0], got[1])
		}
	}
	if got := Histograms(1, 4, nil); got[0][2] != 0.25 {
		t.Errorf("nothing tells %v", got)
	}
}

// TestProject compares with the conditions that the nearest vector meets: what is above 0 was
// lowered by one number, and what is 0 would be at most 0.
func TestProject(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		v := make([]float64, 7)
		for i := range v {
			v[i] = 2 * rng.NormFloat64()
		}
		p := slices.Clone(v)
		project(p)
		shift := math.NaN()
		for i := range p {
			if p[i] > 0 {
				shift = v[i] - p[i]
			}
		}
		for i := range p {
			if p[i] > 0 && math.Abs(v[i]-p[i]-shift) > 1e-12 || p[i] == 0 && v[i] > shift+1e-12 {
				t.Fatalf("%v became %v", v, p)
			}
		}
		if sum := mean(p) * 7; math.Abs(sum-1) > 1e-12 {
			t.Fatalf("%v became %v", v, p)
		}
	}
}

// TestCompare holds the comparisons to figures by hand.
func TestCompare(t *testing.T) {
	if got := Correlation([]float64{1, 2, 3}, []float64{2, 4, 7}); math.Abs(got-0.9933993) > 1e-6 {
		t.Errorf("correlation %v", got)
	}
	if got := Correlation([]float64{1, 1, 1}, []float64{2, 4, 7}); got != 0 {
		t.Errorf("correlation with a constant %v", got)
	}
	values, truth := []float64{1, 2, 2, 3, 0}, []bool{false, true, false, true, false}
	if got := AUC(values, truth); got != 5.5/6 {
		t.Errorf("AUC %v", got)
	}
	values, truth = []float64{math.NaN(), 1, math.NaN(), 0}, []bool{true, true, false, false}
	if got := AUC(values, truth); got != 2.5/4 {
		t.Errorf("AUC with NaN %v", got)
	}
	hist := [][]float64{{1, 0}, {0.9, 0.1}, {0, 1}, {0.5, 0.5}}
	if got := L1(hist[:1], hist[2:3]); got != 2 {
		t.Errorf("L1 %v", got)
	}
	if got := Near(hist); !slices.Equal(got, []bool{true, false, false, false, false, false}) {
		t.Errorf("near: %v", got)
	}
	sent := []map[uint64][]float64{
		{1: {1, 2}, 2: {3}}, {2: {6}, 1: {2, 4}, 3: {-9}}, {1: {-1, -2}, 2: {-3}}, {7: {1}},
	}
	got := Alike(sent)
	for i, want := range []float64{1, -1, 0, -1, 0, 0} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("alike: %v", got)
		}
	}
}
