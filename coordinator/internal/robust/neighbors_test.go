package robust

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMix: each contribution becomes the mean of the three nearest of four. The liar, far from
// all, is part of its own mean only.
func TestMix(t *testing.T) {
	all := [][]float32{{0, 1}, {1, 1}, {900, 1}, {2, 4}}
	Mix(all, 1)
	want := [][]float32{{1, 2}, {1, 2}, {301, 2}, {1, 2}}
	for i := range want {
		if !slices.Equal(all[i], want[i]) {
			t.Errorf("contribution %d is %v, want %v", i, all[i], want[i])
		}
	}
	alone := [][]float32{{3}}
	if Mix(alone, 2); alone[0][0] != 3 {
		t.Errorf("one contribution alone becomes %v", alone[0])
	}
}

// TestMixed: with a fifth of the devices far off in any way, no mixed contribution of an honest
// device is farther from the honest mean than those of honest devices that nobody disturbs.
func TestMixed(t *testing.T) {
	const devices, liars, scalars = 20, 4, 10
	for name, lie := range lies {
		f := &fleet{rng: rand.New(rand.NewPCG(3, 4)), n: devices, liars: liars, scalar: scalars,
			lie: func(rng *rand.Rand, signal, own []float32) []float32 {
				return times(50)(rng, signal, lie(rng, signal, own))
			}}
		for range 20 {
			all := f.round()
			honest := make([]float32, scalars)
			for _, v := range all[liars:] {
				for p := range v {
					honest[p] += v[p] / (devices - liars)
				}
			}
			Mix(all, liars)
			for i, v := range all[liars:] {
				if far := math.Sqrt(distance(v, honest)); far > 1e-4 {
					t.Fatalf("%s: honest device %d ends %v from the mean of honest devices", name, i, far)
				}
			}
		}
	}
}
