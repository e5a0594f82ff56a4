package loss

import (
	"math"
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
