package loss

import (
	"math"
	"slices"
	"testing"
)

// TestOneLossDoesNotMatter: a device that reports an arbitrary loss moves the mean of ten losses by
// at most 3.2 median distances. The median distance is 0.25, so the mean moves by at most 0.8.
// Without a bound, or with two devices, one device decides the mean.
func TestOneLossDoesNotMatter(t *testing.T) {
	for _, tt := range []struct {
		name    string
		lie     float32
		bounded bool
		want    float64
	}{
		{"as the others", 1.5, true, 1.5},
		{"the largest", math.MaxFloat32, true, 2.3},
		{"the least", -math.MaxFloat32, true, 0.7},
		{"the largest, without a bound", math.MaxFloat32, false, math.MaxFloat32 / 10},
	} {
		var m Mean
		for i := range 9 {
			m.Add(1.5+0.25*float32(i%3-1), 1)
		}
		m.Add(tt.lie, 1)
		if got := float64(m.Over(10, tt.bounded)); math.Abs(got-tt.want) > 1e-6*math.Abs(tt.want) {
			t.Errorf("%s: a mean of %v, want %v", tt.name, got, tt.want)
		}
	}
	var two Mean
	two.Add(1, 1)
	two.Add(math.MaxFloat32, 3)
	if got := two.Over(4, true); got != 0.75*math.MaxFloat32 {
		t.Errorf("of two: %v", got)
	}
	two.Reset()
	if got := two.Over(4, true); got != 0 {
		t.Errorf("of none: %v", got)
	}
}

// TestOfCandidate: two devices that are far from the others count, and one counts as far as eight
// times another.
func TestOfCandidate(t *testing.T) {
	const huge = math.MaxFloat32
	for _, c := range []struct {
		losses      []float32
		bounded     bool
		mean, above float64
	}{
		{[]float32{5}, true, 5, 0},
		{[]float32{1, 9}, true, 5, 4},
		{[]float32{2, 2, 2, 2, 902, 902, 2, 2, 2, 2}, true, 182, 180},
		{[]float32{2, 2, 2, 2, 2, 12, 2, 2, 902, 2}, true, 2 + 1 + 8, 1 + 8},
		{[]float32{2, 2, 2, 2, 2, 12, 2, 2, 902, 2}, false, 2 + 1 + 90, 1 + 90},
		{[]float32{2, 2, 2, 2, 2, 2, 2, 2, huge, 2}, true, 2, 0},
		{[]float32{2, 2, 2, 2, 2, 12, 2, 2, -huge, 2}, true, 2 + 1 - 8, 1},
	} {
		kept := slices.Clone(c.losses)
		mean, above := OfCandidate(c.losses, c.bounded)
		if math.Abs(mean-c.mean) > 1e-9 || math.Abs(above-c.above) > 1e-9 {
			t.Errorf("%v: a mean of %v, %v above; want %v and %v", c.losses, mean, above, c.mean, c.above)
		}
		if !slices.Equal(c.losses, kept) {
			t.Errorf("%v became %v", kept, c.losses)
		}
	}
}
