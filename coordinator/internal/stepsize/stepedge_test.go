package stepsize_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// At an edge of the loss, such as a hinge loss of many classes has at zero, all moves go uphill.
// The step is the length at which the loss bends away from its first slope.
func TestStepInAnEdge(t *testing.T) {
	edge := func(slope, bend float64) []float32 {
		return along(func(a float64) float64 {
			rounding := 1 + 5e-4*math.Sin(9*math.Log(a+1e-9))
			return 1 + rounding*slope*a + bend*max(0, a-1)
		})
	}
	for _, bend := range []float64{1, -0.5, 0.02} {
		for _, devices := range []int{1, 2, 3, 8} {
			values := slices.Repeat([][]float32{edge(0.7, bend)}, devices)
			if got := foundStep(t, values...); got != 1 {
				t.Errorf("bend %v, %d devices: step %v, want 1", bend, devices, got)
			}
		}
		var alike, unlike, lied [][]float32
		for i := range 8 {
			side := float64(1 - 2*(i%2))
			alike = append(alike, edge(0.7+0.2*side, bend))
			unlike = append(unlike, edge(0.1+side, bend/10))
		}
		down := edge(-100, 0)
		lied = append(slices.Clone(alike), down, down)
		for name, values := range map[string][][]float32{"alike": alike, "a fifth lies": lied} {
			if got := foundStep(t, values...); got != 1 {
				t.Errorf("bend %v, %s: step %v, want 1", bend, name, got)
			}
		}
		if got := foundStep(t, unlike...); got == 1 {
			t.Errorf("bend %v: step %v, where it is not sure that the loss rises", bend, got)
		}
	}
}

// An error rate stops changing where the move is larger than the parameters. If devices differ in
// whether the error rate falls, the step is the length where it stops changing, not the longest
// length.
func TestStepWhereALossRests(t *testing.T) {
	for _, test := range []struct {
		end  float64
		want float32
	}{{16, 16}, {1, 1}, {1e-9, 1024}, {1e9, 1024}} { // at zero it rests everywhere
		var values [][]float32
		for d := range 8 {
			values = append(values, along(func(a float64) float64 {
				to := math.Min(a/test.end, 1)
				rounding := 1.0
				if test.end > 1e-9 {
					rounding += 0.01 * math.Sin(9*math.Log(a+1e-9))
				}
				return 0.9 + rounding*[]float64{-0.09, 0.1}[d%2]*to
			}))
		}
		if got := foundStep(t, values...); got != test.want {
			t.Errorf("a loss that rests from %v on: step %v, want %v", test.end, got, test.want)
		}
	}
}

// A bounded loss, such as that of a controller that fails, may be low again far beyond a hump. The
// survey uses that low loss only if devices agree that it is lower.
func TestStepBeyondHump(t *testing.T) {
	for _, test := range []struct {
		deep float64 // what the loss is far beyond the hump
		want float32
	}{{3.99, 1.62}, {2, 64}} {
		var values [][]float32
		for d := range 8 {
			values = append(values, along(func(a float64) float64 {
				switch {
				case a <= 1:
					return 5 - a
				case a <= 16:
					return 5
				}
				return test.deep + 0.1*float64(d%2*2-1)
			}))
		}
		if got := foundStep(t, values...); got != test.want {
			t.Errorf("%v beyond the hump: step %v, want %v", test.deep, got, test.want)
		}
	}
}

// Along short moves a measured loss shows its noise alone. That noise makes no hump before the
// length with the least loss, or the run would keep a step that does not move the model.
func TestStepBeyondNoise(t *testing.T) {
	for _, test := range []struct {
		devices, most int // surveys of 200 that miss the least loss
	}{{1, 5}, {3, 5}, {5, 2}, {8, 2}} {
		short := 0
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 12))
			var values [][]float32
			for range test.devices {
				values = append(values, along(func(a float64) float64 {
					return 1.5*(a-1)*(a-1) + 0.5*rng.NormFloat64()
				}))
			}
			if foundStep(t, values...) < 1./16 {
				short++
			}
		}
		if short > test.most {
			t.Errorf("%d devices: %d of 200 steps below a sixteenth of the best, want at most %d",
				test.devices, short, test.most)
		}
	}
}

// A loss that falls ever less has its least at any length. The step is no longer than the length
// with nearly all of the fall: longer steps may be much too long for the devices that the mean
// leaves out.
func TestStepOfEndlessFall(t *testing.T) {
	for _, test := range []struct {
		rate float64
		want float32
	}{{1, 4}, {0.1, 64}, {1e-4, 1024}} {
		falls := along(func(a float64) float64 { return math.Exp(-test.rate * a) })
		rises := along(func(a float64) float64 { return 5 + a })
		if got := foundStep(t, falls, falls, falls, falls, falls, rises); got != test.want {
			t.Errorf("rate %v: step %v, want %v", test.rate, got, test.want)
		}
	}
}

// If the loss of most devices is infinite beyond some length, the step is shorter than that length.
// If the loss is infinite everywhere, there is no step.
func TestStepOfInfiniteLoss(t *testing.T) {
	until := func(most float64) []float32 {
		return along(func(a float64) float64 {
			if a > most {
				return math.Inf(1)
			}
			return 3 - a
		})
	}
	if got := foundStep(t, until(5), until(5), until(5)); got != 2 {
		t.Errorf("step %v, want 2, half of the longest with a finite loss", got)
	}
	if got := foundStep(t, until(5), until(1e9), until(1e9), until(1e9)); got != 1024 {
		t.Errorf("step %v with one device that is infinite, want 1024", got)
	}
	if got := foundStep(t, until(0), until(0)); got != 0 {
		t.Errorf("step %v, want none", got)
	}
}
