package main

import (
	"math"
	"testing"
)

// With its heater full on, a plate reaches its gain minus the pot, exponentially with its
// lag after the dead time.
func TestPlate(t *testing.T) {
	p := Plate{Gain: 200, Lag: 20, Dead: 10, Sensor: 1e-3}
	full := Gains{Ahead: 1 / SetPoint, Ti: 1, Tt: 1}
	y := p.Run(full, nil).Read
	half := len(y) / 2
	if got := y[half-1]; math.Abs(got-200) > 0.1 {
		t.Errorf("%.2f K before the pot, want 200", got)
	}
	if got := y[len(y)-1]; math.Abs(got-(200-Pot)) > 0.1 {
		t.Errorf("%.2f K with the pot, want %v", got, 200-Pot)
	}
	at := func(s float64) float64 { return y[int(s/Period)+1] } // one reading late
	if got := at(9); got != 0 {
		t.Errorf("%.2f K before the dead time is over, want 0", got)
	}
	if got, want := at(30), 200*(1-math.Exp(-1)); math.Abs(got-want) > 0.5 {
		t.Errorf("%.2f K a lag after the dead time, want %.2f", got, want)
	}
}

// The integral leaves no error, with or without a pot, and the heater stays within its
// limits.
func TestControllerSettles(t *testing.T) {
	trace := Nominal.Run(SIMC(Nominal), nil)
	for _, i := range []int{len(trace.Read)/2 - 1, len(trace.Read) - 1} {
		if got := trace.Read[i]; math.Abs(got-SetPoint) > 0.5 {
			t.Errorf("%.2f K after %v s, want %v", got, float64(i)*Period, SetPoint)
		}
	}
	for i, u := range trace.Power {
		if u < 0 || u > 1 {
			t.Fatalf("power %v at reading %d, want 0 to 1", u, i)
		}
	}
}

// The loss of a trace of four readings, computed by hand.
func TestLoss(t *testing.T) {
	trace := Trace{Read: []float64{SetPoint + 4, SetPoint - 8, SetPoint + 9, SetPoint},
		Power: []float64{1, 0, 0.5, 0.5}}
	want := (4.0+8+9)/4 + overshootCost*4 + effortCost*1.5/Duration
	if got := Loss(trace); math.Abs(got-want) > 1e-12 {
		t.Errorf("loss %v, want %v", got, want)
	}
}
