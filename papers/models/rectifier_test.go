package models

import (
	"math"
	"testing"
)

// Every kind of number at every place: what comes out, and that a NaN is either in
// it or told of.
func TestRectifier(t *testing.T) {
	negative := math.Float32frombits(0xffc00000)
	inf := float32(math.Inf(1))
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2.5, -2.5, inf, -inf,
		float32(math.NaN()), negative}
	for _, a := range values {
		var dst [1]float32
		most := rectify(dst[:], 1, []float32{a}, 1, 1)
		checkRectified(t, dst[0], most, a)
		for _, b := range values {
			for _, c := range values {
				for _, d := range values {
					above, below := []float32{a, 9, b}, []float32{c, 9, d}
					most := pool2(dst[:], 1, above, below, 2, 1)
					checkRectified(t, dst[0], most, a, b, c, d)
				}
			}
		}
	}
}

// checkRectified wants the largest of from and 0, or a NaN if there is one.
func checkRectified(t *testing.T, got float32, most uint32, from ...float32) {
	t.Helper()
	var want float32
	nan := false
	for _, v := range from {
		nan = nan || v != v
		if v > want {
			want = v
		}
	}
	if nan {
		if got == got && most <= negativeInf {
			t.Fatalf("%v: got %v, and nothing of a NaN", from, got)
		}
	} else if math.Float32bits(got) != math.Float32bits(want) || most > negativeInf {
		t.Fatalf("%v: got %v and %#x, want %v", from, got, most, want)
	}
}
