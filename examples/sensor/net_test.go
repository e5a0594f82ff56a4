package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSegmentsAreTheParameters(t *testing.T) {
	for _, s := range []shape{{1, 12, 16}, {3, 4, 5}, {1, 1, 1}} {
		sum := 0
		for _, g := range s.segments() {
			sum += int(g.Len)
		}
		if sum != s.dim() {
			t.Errorf("segments of %v have %d parameters, want %d", s, sum, s.dim())
		}
	}
}

// randomParams returns initial parameters as a run's plan draws them. With all set, the
// layers that begin at 0 are drawn too.
func randomParams(s shape, all bool, random *rand.Rand) []float32 {
	var x []float32
	for _, g := range s.segments() {
		for range g.Len {
			v := float32(0)
			if all || g.Scale != 0 {
				v = random.Float32()*2 - 1
			}
			x = append(x, v*max(g.Scale, 0.3))
		}
	}
	return x
}

func TestForwardIsTheFormula(t *testing.T) {
	s := shape{channels: 2, lags: 3, hidden: 4}
	random := rand.New(rand.NewPCG(1, 0))
	x, u := randomParams(s, true, random), make([]float32, s.inputs())
	for i := range u {
		u[i] = random.Float32()
	}
	got := make([]float64, 2)
	newNetwork(s).forward(x, u, got)
	in := s.inputs()
	skip, hidden := x[:2*in], x[2*in:2*in+4*in]
	bias, out, last := x[6*in:6*in+4], x[6*in+4:6*in+12], x[6*in+12:]
	for c := range got {
		want := float64(last[c])
		for j, v := range u {
			want += float64(skip[c*in+j]) * float64(v)
		}
		for i := range 4 {
			unit := float64(bias[i])
			for j, v := range u {
				unit += float64(hidden[i*in+j]) * float64(v)
			}
			want += float64(out[c*4+i]) * math.Tanh(unit)
		}
		if math.Abs(got[c]-want) > 1e-5 {
			t.Errorf("channel %d: %v, want %v", c, got[c], want)
		}
	}
}

// An untrained network forecasts no change.
func TestUntrainedIsTheLastReading(t *testing.T) {
	s := shape{1, 12, 16}
	random := rand.New(rand.NewPCG(2, 0))
	x, u := randomParams(s, false, random), make([]float32, s.inputs())
	for i := range u {
		u[i] = random.Float32()
	}
	got := []float64{1}
	if newNetwork(s).forward(x, u, got); got[0] != 0 {
		t.Errorf("forecasts a change of %v, want 0", got[0])
	}
}
