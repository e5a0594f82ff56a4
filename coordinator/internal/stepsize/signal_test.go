package stepsize_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/stepsize"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// signal returns what a survey of mu by some devices finds.
func signal(difference plan.Difference, values ...[]float32) survey.Result {
	p := plan.Plan{ProbeFields: plan.ProbeFields{Difference: difference}}
	found, _, _ := stepsize.Decide(&p, 0, survey.Mu, values)
	return found
}

// TestSignal: a precise loss has a high signal to noise, which curvature lowers for forward
// differences alone; a loss of 16 bits has little along a gentle slope, and is told as such.
func TestSignal(t *testing.T) {
	curved := answer(parabola(1, 20)) // the even part is a tenth of the odd one at mu = 0.01
	forward, central := signal(plan.Forward, curved), signal(plan.Central, curved)
	if forward.Value != central.Value || forward.SignalToNoise > 100 ||
		central.SignalToNoise < 5*min(forward.SignalToNoise, 20) {
		t.Errorf("curvature: forward %+v, central %+v", forward, central)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	noisy := func(unit float64) (devices [][]float32) {
		for range 3 {
			losses := map[float64]float64{}
			devices = append(devices, answer(func(s float64) float64 {
				if _, known := losses[s]; !known {
					losses[s] = math.Round((2.3+1e-5*math.Tanh(s)+0.2*rng.Float64())/unit) * unit
				}
				return losses[s]
			}))
		}
		return devices
	}
	for _, c := range []struct {
		unit float64
		bits int
	}{{0x1p-6, 8}, {0x1p-9, 11}, {0x1p-20, 0}} {
		r := signal(plan.Forward, noisy(c.unit)...)
		if r.Bits != c.bits || !(r.SignalToNoise < 3) || r.Warning == "" || r.LossesFactor < 1.1 {
			t.Errorf("noise, in steps of %g: %+v", c.unit, r)
		}
	}
}

// TestErrorOfADifference: of a forward difference the even part at mu is error, of a central one
// half the even part at the distance before.
func TestErrorOfADifference(t *testing.T) {
	values := []float32{2}
	for _, mu := range survey.Distances() {
		values = append(values, mu)
	}
	for _, mu := range survey.Distances() {
		values = append(values, max(4e-5, 50*mu*mu)) // noise, and then curvature
	}
	for difference, want := range map[plan.Difference]float64{plan.Forward: 20, plan.Central: 50} {
		r := signal(difference, values)
		if r.Value != 1e-3 || math.Abs(r.SignalToNoise-want) > 1e-3 {
			t.Errorf("%v: mu %v, signal to noise %v, want %v", difference, r.Value, r.SignalToNoise, want)
		}
	}
}

// TestUnsure: a step is found with a warning where the loss does not surely fall, or where each of
// two devices alone would have another.
func TestUnsure(t *testing.T) {
	line := func(f func(a float64) float64) []float32 {
		values := []float32{3}
		for _, a := range survey.Lengths() {
			values = append(values, float32(f(float64(a))))
		}
		return values
	}
	down := line(func(a float64) float64 { return -a + a*a })
	far := line(func(a float64) float64 { return -a + a*a/1000 })
	up := line(func(a float64) float64 { return a + a*a })
	for _, c := range []struct {
		name    string
		devices [][]float32
		want    string
	}{
		{"one parabola", [][]float32{down}, ""},
		{"two equal ones", [][]float32{down, down}, ""},
		{"two steps", [][]float32{down, far}, "times as long. With more devices"},
		{"upwards", [][]float32{up, up, up}, "no loss along the averaged move is surely lower"},
	} {
		p := plan.Plan{}
		r, _, ok := stepsize.Decide(&p, 5, survey.Step, c.devices)
		if !ok || r.Value == 0 || (r.Warning == "") != (c.want == "") ||
			!strings.Contains(r.Warning, c.want) {
			t.Errorf("%s: %+v, %v; want warning %q", c.name, r, ok, c.want)
		}
	}
}
