package byzantine

import (
	"slices"
	"testing"
)

// TestMixings has four honest devices with scalars 0 to 6 and a liar with 100. A score is the sum
// of the two least distances. Krum takes the first of the two contributions in the middle,
// Multi-Krum the mean of all honest ones.
func TestMixings(t *testing.T) {
	for name, test := range map[string]struct {
		mix  func(all [][]float32, liars int)
		want []float32
	}{
		"krum":  {krum, []float32{2, 2, 2, 2, 2}},
		"krums": {krums, []float32{3, 3, 3, 3, 3}},
	} {
		all := [][]float32{{0}, {2}, {4}, {6}, {100}}
		test.mix(all, 1)
		if got := slices.Concat(all...); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
