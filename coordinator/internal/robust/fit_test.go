package robust

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A plainFit is the definition of a [fit]. It keeps the contributions of a few devices, of which
// the last is the root.
type plainFit struct {
	keep   float64
	rounds [][][]float64 // c/n of each device, then r, in parts of the scale
}

// noise adds a round, and returns which share of its weight each device loses as noise. noise
// leaves out devices that lost their whole weight because they contradict the root.
func (f *plainFit) noise(sent [][]float32, scale float64, lost []float64) []float64 {
	f.rounds = append(f.rounds, scaledRound(sent, scale))
	all := func(w float64) []float64 {
		weights := make([]float64, len(lost))
		for i, share := range lost {
			if share < 1 {
				weights[i] = w
			}
		}
		return weights
	}
	s := min(lowest(2, func(w float64) float64 { return f.left(all(w)) }), 1)
	w, noise := all(s), make([]float64, len(lost))
	if !(s > 0) {
		return noise
	}
	stiff := f.left(w) / f.scalars() / (s * s)
	for range 100 {
		for i, share := range lost {
			if share < 1 {
				w[i] = min(max(lowest(s, func(v float64) float64 {
					w[i] = v
					return f.left(w) + stiff*(v-s)*(v-s)
				}), 0), s)
			}
		}
	}
	for i := range noise {
		noise[i] = 1 - w[i]/s
	}
	return noise
}

// lowest returns where the parabola through 0, at/2 and at has its lowest point.
func lowest(at float64, value func(float64) float64) float64 {
	a, b, c := value(0), value(at/2), value(at)
	return at / 4 * (3*a - 4*b + c) / (a - 2*b + c)
}

// scaledRound returns a round in the scale that a fit uses.
func scaledRound(sent [][]float32, scale float64) [][]float64 {
	all := make([][]float64, len(sent))
	for i, c := range sent {
		by := 1 / scale
		if i < len(sent)-1 {
			by = 1 / max(scale, lengthOf(c)) / float64(len(sent)-1)
		}
		for _, v := range c {
			all[i] = append(all[i], by*float64(v))
		}
	}
	return all
}

// left returns the sum over rounds of |r - sum of w c / n|^2.
func (f *plainFit) left(w []float64) float64 {
	sum := 0.0
	for t, round := range f.rounds {
		fade := math.Pow(f.keep, float64(len(f.rounds)-1-t))
		for p, r := range round[len(w)] {
			for i, v := range w {
				r -= v * round[i][p]
			}
			sum += fade * r * r
		}
	}
	return sum
}

func (f *plainFit) scalars() float64 {
	n := 0.0
	for t := range f.rounds {
		n += math.Pow(f.keep, float64(len(f.rounds)-1-t)) * float64(len(f.rounds[t][0]))
	}
	return n
}

// TestNoise: four devices send independent noise, or the same noise, or a mixture. The noise does
// not contradict the root. The data of the other devices differ, so that each is far from the root,
// but their mean is near the root. The four devices together count as at most one device.
func TestNoise(t *testing.T) {
	for name, own := range map[string]float32{"the same": 0, "half the same": 1, "their own": 100} {
		f := fleet{rng: rand.New(rand.NewPCG(5, 6)), n: 21, scalar: 10}
		g := newRooted(&plan.Plan{RobustFields: plan.RobustFields{Bound: 1.5, Trust: 200}}, 20)
		counted := make([]float64, f.n)
		const rounds, from = 200, 50
		for r := range rounds {
			all := f.round()
			noise, kinds := f.noise(), [4][]float32{f.noise(), f.noise(), f.noise(), f.noise()}
			for i, c := range all[:20] {
				if lies := i < 4; lies {
					mine := f.noise()
					for p := range c {
						c[p] = 5 * (noise[p] + own*mine[p])
					}
					continue
				}
				for p := range c { // of four kinds of data, with as many devices for as against
					c[p] += 3 * float32(1-i/4%2*2) * kinds[i%4][p]
				}
			}
			g.round(all)
			for i := range counted {
				if r >= from {
					counted[i] += float64(g.Weight(uint32(i), 1)) / full / (rounds - from)
				}
			}
		}
		if all := counted[0] + counted[1] + counted[2] + counted[3]; all > 1 {
			t.Errorf("noise of %s: four devices count as %.2f", name, all)
		}
		if least := slices.Min(counted[4:20]); least < 0.7 {
			t.Errorf("noise of %s: an honest device counts %.2f", name, least)
		}
	}
}

// TestSlotsBeyondAFit: members with slots from mostFitted on keep the weight that they would have
// without a fit, and cost no memory.
func TestSlotsBeyondAFit(t *testing.T) {
	p := &plan.Plan{RobustFields: plan.RobustFields{Trust: 10, Roots: []string{"root"}}}
	g := &Bounds{Root: func(slot uint32) bool { return slot == 0 }}
	for range 5 {
		g.Remember(&Past{})
		g.Begin(p)
		sent := map[uint32][]float32{0: {1, 2}, mostFitted: {2, 1}, mostFitted + 1: {3, 3}}
		for slot, values := range sent {
			g.Hold(slot, &wire.Reply{Weight: 1}, values, 0, nil)
		}
		g.Close()
	}
	if len(g.fit.weights) > 0 || g.Weight(mostFitted, 1) != full {
		t.Errorf("weights of %d slots are kept, and the first beyond counts %d of %d",
			len(g.fit.weights), g.Weight(mostFitted, 1), full)
	}
}

// noise returns scalars that are independent of any loss.
func (f *fleet) noise() []float32 {
	v := make([]float32, f.scalar)
	for p := range v {
		v[p] = float32(f.rng.NormFloat64())
	}
	return v
}
