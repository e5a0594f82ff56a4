package cma

import "testing"

// until returns after how many records a run is level; 0: not within most.
func until(most int, loss func(n int) float64, spread func(n int) float32) int {
	var l level
	for n := range most {
		scalars := []float32{0, spread(n), 0}
		if scalars[1] > 0 {
			scalars[2] = 1e30 // a candidate without a finite loss
		}
		l.follow(float64(float32(loss(n))), scalars)
		if l.is(6, 9) {
			return n + 1
		}
	}
	return 0
}

func falls(factor, floor float64) func(n int) float64 {
	f := 1.0
	return func(int) float64 {
		f *= factor
		return floor + f
	}
}

func TestLevel(t *testing.T) {
	converges := func(factor float64) func(int) float32 {
		f := falls(factor, 0)
		return func(n int) float32 { return float32(f(n)) }
	}
	for _, c := range []struct {
		name   string
		loss   func(n int) float64
		spread func(n int) float32
		least  int // records, 0: never
	}{
		{"a local minimum", falls(0.5, 3), converges(0.5), 40},
		{"falls for ever", falls(0.9, 0), converges(0.9), 0},
		{"better by less than a float32 shows", falls(0.5, 3), converges(0.97), 0},
		{"a plateau of the least loss", func(int) float64 { return 3 },
			func(int) float32 { return 1 }, 0},
		{"noise", func(n int) float64 { return 3 + float64(n%7)/10 },
			func(int) float32 { return 1 }, 0},
		{"losses that are equal from some record on", falls(0.5, 0),
			func(n int) float32 { return float32(max(10-n, 0)) }, 30},
	} {
		got := until(400, c.loss, c.spread)
		if (got == 0) != (c.least == 0) || got < c.least || got > c.least+40 {
			t.Errorf("%s: level after %d records, want %d", c.name, got, c.least)
		}
	}
}

func TestStill(t *testing.T) {
	var l level
	for range 2 * stopped { // stairs: most candidates stand on the same one
		l.follow(7, []float32{0, 0, 0, 1})
	}
	if l.still() || l.is(2, 4) {
		t.Errorf("stairs: still %v, level %v", l.still(), l.is(2, 4))
	}
	l = level{}
	for range stopped {
		if l.still() {
			t.Error("still too early")
		}
		l.follow(7, []float32{0, 0, 0})
	}
	if !l.still() || l.is(2, 6) {
		t.Errorf("a constant loss: still %v, level %v", l.still(), l.is(2, 6))
	}
}
