package gather

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLossWatch(t *testing.T) {
	const huge = math.MaxFloat32
	for _, test := range []struct {
		name    string
		diverge float64
		losses  []float64
		want    bool
	}{
		{"no rounds", 1, nil, false},
		{"never", 0, []float64{1, 1, 1, 1, 1, 1e30, 1e30, 1e30}, false},
		{"steady", 1, []float64{1, 1, 1, 1, 1, 1, 1}, false},
		{"a spike", 1, []float64{1, 1, 1, 1, 1, 50, 1, 1}, false},
		{"two that are absurd", 1, []float64{1, 1, 1, 1, 1, huge, 1, huge, 1, 1}, false},
		{"too early to say", 1, []float64{1, 9, 90, 900}, false},
		{"growth", 1, []float64{1, 1, 1, 1, 1, 9, 9, 9}, true},
		{"from near 0", 1, []float64{0.001, -0.4, 0.3, 0.5, -0.2, 0.4, 0.5, 0.3, 0.4, 0.5, 0.4},
			false},
		{"from 0", 1, []float64{0, 0.1, -0.1, 0.1, 0, 5, 5, 5}, true},
		{"as much as was gained", 1, slices.Concat(repeat(0.1, 5), repeat(-9, 40), repeat(9, 40)),
			false},
		{"more than was gained", 1, slices.Concat(repeat(0.1, 5), repeat(-9, 40), repeat(11, 40)),
			true},
		{"negative losses", 0.5, slices.Concat(repeat(-4, 5), repeat(2, 9)), true},
	} {
		var w LossWatch
		for _, loss := range test.losses {
			w.Observe(loss)
		}
		if got := w.Diverged(test.diverge); (got != "") != test.want {
			t.Errorf("%s: %q, want diverged %t", test.name, got, test.want)
		}
	}
}

func repeat(loss float64, n int) []float64 { return slices.Repeat([]float64{loss}, n) }

// TestLossWatchOfNoise has objectives that begin near 0 and stay there.
func TestLossWatchOfNoise(t *testing.T) {
	ended := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var w LossWatch
		for range 1000 {
			w.Observe(rng.NormFloat64())
			if w.Diverged(1) != "" {
				ended++
				break
			}
		}
	}
	if ended > 0 {
		t.Errorf("%d of 200 runs ended, want none", ended)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		losses []float32
		want   float32
	}{{[]float32{3}, 3}, {[]float32{9, 1}, 1}, {[]float32{9, 1, 5}, 5},
		{[]float32{4, 3, 2, 1}, 2}} {
		if got := Median(slices.Clone(test.losses)); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.losses, got, test.want)
		}
	}
}
