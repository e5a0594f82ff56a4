package stepsize

import (
	"math"
	"testing"
)

// Append and Read keep all bits of what a law knows, and Read takes nothing else.
func TestHandover(t *testing.T) {
	laws := []Law{{}, {trimmed: trend{0.1, -0.3}, whole: trend{1.0 / 3, 0}},
		{trimmed: trend{-1, 1}, progress: progress{true, 1e30, -2.0 / 3, 5e-324}}}
	for _, want := range laws {
		got := Law{trimmed: trend{7, 7}}
		if !got.Read(want.Append(nil)) || got != want {
			t.Errorf("%+v became %+v", want, got)
		}
	}
	whole := laws[2].Append(nil)
	nan := appendFloats(nil, 1, math.NaN(), 1, 1)
	for _, b := range [][]byte{whole[:1], whole[:40], whole[:55], append(whole, 0), nan,
		appendFloats(nil, 1, 1, 1, math.Inf(1))} {
		if got := laws[1]; got.Read(b) || got != (Law{}) {
			t.Errorf("%x became %+v", b, got)
		}
	}
}
