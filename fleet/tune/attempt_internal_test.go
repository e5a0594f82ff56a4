package tune

import (
	"math"
	"testing"
)

// TestLosesTo: losesTo is true after a quarter of the rounds if the gain is less than half of the
// rival's, and after half of the rounds if it is less than four fifths. After other rounds it is
// false.
func TestLosesTo(t *testing.T) {
	falls := func(by float64, rounds int) []float64 {
		curve := []float64{10}
		for len(curve) < rounds {
			curve = append(curve, 10-by)
		}
		return curve
	}
	rival := &attempt{curve: falls(1, 40)}
	for _, c := range []struct {
		curve []float64
		rival *attempt
		want  bool
	}{
		{falls(0.49, 10), rival, true},
		{falls(0.51, 10), rival, false},
		{falls(0.1, 9), rival, false},
		{falls(0.1, 11), rival, false},
		{falls(0.79, 20), rival, true},
		{falls(0.81, 20), rival, false},
		{falls(0.1, 30), rival, false},
		{falls(0.1, 10), nil, false},
		{falls(0.1, 10), &attempt{curve: falls(1, 9)}, false}, // it was dropped itself
		{falls(-9, 10), &attempt{curve: falls(-1, 40)}, false},
	} {
		if got := (&attempt{curve: c.curve}).losesTo(c.rival, 40); got != c.want {
			t.Errorf("%d rounds to %v: dropped %v, want %v", len(c.curve), c.curve[len(c.curve)-1],
				got, c.want)
		}
	}
}

// TestBeats: a trial that diverged or was dropped never beats a trial that went to its end.
func TestBeats(t *testing.T) {
	of := func(loss float64) *attempt { return &attempt{trial: Trial{Loss: loss}} }
	for _, c := range []struct {
		a, b *attempt
		want bool
	}{
		{of(1), of(2), true}, {of(2), of(1), false}, {of(1), of(1), false}, {of(5), nil, true},
		{of(math.Inf(1)), of(9), false}, {of(9), of(math.Inf(1)), true},
		{of(math.NaN()), of(9), false}, {of(9), of(math.NaN()), true},
	} {
		if c.a.beats(c.b) != c.want {
			t.Errorf("%+v beats %+v: want %v", c.a.trial.Loss, c.b, c.want)
		}
	}
}

// TestIsWorth: isWorth compares two gains. If the other attempt gained nothing, any gain is enough.
func TestIsWorth(t *testing.T) {
	of := func(loss float64) *attempt { return &attempt{trial: Trial{Loss: loss}} }
	for _, c := range []struct {
		best, other, times float64
		want               bool
	}{
		{1, 0.94, 1.05, true}, {1, 0.96, 1.05, false}, {1, 1.005, 0.99, true},
		{1, 1.02, 0.99, false}, {3, 2.9, 1.05, false}, {3, 1.9, 1.05, true},
		{1, math.Inf(1), 0.99, false},
	} {
		u := &tuning{best: of(c.best), result: &Result{Start: 2}}
		if got := u.isWorth(of(c.other), u.best, c.times); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
