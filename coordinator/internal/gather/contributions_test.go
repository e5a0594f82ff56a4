package gather

import (
	"math"
	"slices"
	"testing"
)

func TestTrimmedMean(t *testing.T) {
	for _, test := range []struct {
		n, cut int
		trim   float32
	}{{1, 0, 0.49}, {2, 0, 0.49}, {3, 1, 0.49}, {10, 1, 0.1}, {9, 0, 0.1}, {20, 7, 0.35},
		{20, 9, 0.45}, {10, 3, 0.3},
		{25, 4, 0.16}, {100, 29, 0.29}, {8, 2, 0.3}, {1000, 1, 0.001},
		{10, 4, math.Nextafter32(0.5, 0)}} {
		values := make([]float32, test.n)
		for i := range values {
			// unless 7 divides n, no two are equal
			values[i] = float32((i*7%test.n + 1) * (i*7%test.n + 1) * 3)
		}
		sorted := slices.Sorted(slices.Values(values))[test.cut : test.n-test.cut]
		sum := 0.0 // whole numbers below 2^53: exact
		for _, v := range sorted {
			sum += float64(v)
		}
		if got, want := TrimmedMean(values, test.trim),
			float32(sum/float64(len(sorted))); got != want {
			t.Errorf("%d values, %v off either end: %v, want %v", test.n, test.trim, got, want)
		}
	}
}

func TestTrimmedMeanLeavesSome(t *testing.T) {
	values := make([]float32, 3000)
	for n := 1; n <= len(values); n++ {
		TrimmedMean(values[:n], math.Nextafter32(0.5, 0)) // panics if nothing remains
	}
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		most      float32
		in, clips []float32
	}{
		{5, []float32{3, 4}, []float32{3, 4}},
		{2.5, []float32{3, -4}, []float32{1.5, -2}},
		{1, []float32{0, 0}, []float32{0, 0}},
		{1e30, []float32{3e38, 0}, []float32{1e30, 0}},
		{0, nil, nil},
	} {
		got := slices.Clone(test.in)
		Clip(got, test.most)
		for i, v := range got {
			if math.Abs(float64(v-test.clips[i])) > 1e-6*math.Abs(float64(v)) {
				t.Errorf("%v to a length of %v: %v, want %v", test.in, test.most, got, test.clips)
			}
		}
	}
}
