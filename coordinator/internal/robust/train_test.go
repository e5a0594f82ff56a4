package robust

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A school trains 30 parameters on its devices, along 10 directions a round that all devices share.
// The first devices may lie. Device i has the gradient x - c_i plus noise of its minibatch.
type school struct {
	devices int
	spread  float64 // of the devices' c_i around 0
	liars   int
	lie     func(rng *rand.Rand, signal, own []float32) []float32
}

// train returns the mean of |x - c|^2 over the last of 400 rounds, where c is the mean of the
// honest c_i. x begins at 5 in all parameters, where |x - c|^2 is 750.
func (s *school) train(plan *plan.Plan) float64 {
	const dim, directions, rounds = 30, 10, 400
	devices := s.devices
	rng, g := rand.New(rand.NewPCG(11, 12)), &Bounds{}
	normals := func(n int, size float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = size * rng.NormFloat64()
		}
		return v
	}
	x, goal, at, sum := make([]float64, dim), make([]float64, dim), make([][]float64, devices), 0.0
	for i := range at {
		at[i] = normals(dim, s.spread)
		for j := range goal {
			x[j] = 5
			if i >= s.liars {
				goal[j] += at[i][j] / float64(devices-s.liars)
			}
		}
	}
	g.Remember(&Past{})
	for r := range rounds {
		g.Begin(plan)
		signal, z, own := make([]float32, directions), [directions][]float64{}, make([][]float32, devices)
		for p := range z {
			z[p] = normals(dim, 1)
		}
		for i := range own {
			own[i] = make([]float32, directions)
			noise := normals(dim, 1)
			for p := range z {
				slope := 0.0
				for j, v := range z[p] {
					slope += (x[j] - at[i][j] + noise[j]) * v
				}
				own[i][p] = float32(slope)
				if i >= s.liars {
					signal[p] += float32(slope / float64(devices-s.liars))
				}
			}
		}
		total, mean := 0.0, make([]float64, directions)
		for i := range own {
			if i < s.liars {
				own[i] = s.lie(rng, signal, own[i])
			}
			g.Hold(uint32(i), &wire.Reply{}, own[i], 0, nil)
		}
		for _, k := range g.Close() {
			weight := float64(g.Weight(k.Slot, 1))
			if g.Out(k.Values) {
				continue
			}
			g.Cut(k.Slot, k.Values)
			g.Limit(k.Values)
			total += weight
			for p, v := range k.Values {
				mean[p] += weight * float64(v)
			}
		}
		distance := 0.0
		for j := range x {
			for p := range z {
				x[j] -= 0.02 / directions * mean[p] / total * z[p][j]
			}
			distance += (x[j] - goal[j]) * (x[j] - goal[j])
		}
		if r >= rounds-100 {
			sum += distance / 100
		}
	}
	return sum
}

// TestLiarsTrain has a fifth of the devices lie in a run with the recommended bound and trust. If
// data are alike, the run ends as near to the optimum as a run of honest devices. If the devices'
// own optima are 11 apart from the common optimum, the run ends at 2.5 of 750. -v prints all
// results.
func TestLiarsTrain(t *testing.T) {
	recommended := &plan.Plan{RobustFields: plan.RobustFields{Bound: 1.5, Trust: 100}}
	all := map[string]func(*rand.Rand, []float32, []float32) []float32{
		"random": func(rng *rand.Rand, _, own []float32) []float32 {
			for p := range own {
				own[p] = 100 * float32(rng.NormFloat64())
			}
			return own
		},
	}
	for name, lie := range lies {
		all[name] = lie
	}
	for _, spread := range []float64{0, 2} {
		honest := (&school{devices: 20, spread: spread}).train(&plan.Plan{})
		t.Logf("spread %v, no liars: honest %.3g, guarded %.3g", spread, honest,
			(&school{devices: 20, spread: spread}).train(recommended))
		for name, lie := range all {
			s := &school{devices: 20, spread: spread, liars: 4, lie: lie}
			mean, guarded := s.train(&plan.Plan{}), s.train(recommended)
			text := fmt.Sprintf("spread %v, %s: honest %.3g, mean %.3g, guarded %.3g", spread, name,
				honest, mean, guarded)
			if t.Log(text); spread == 0 && guarded > 1.15*honest || guarded > 750./300 {
				t.Error(text)
			}
		}
	}
}
