package robust

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
)

// A fleet has honest devices, whose scalars are a common signal plus independent noise, and liars.
type fleet struct {
	rng    *rand.Rand
	n      int
	liars  int
	lie    func(rng *rand.Rand, signal, own []float32) []float32
	scalar int
}

func (f *fleet) round() (all [][]float32) {
	signal := make([]float32, f.scalar)
	for p := range signal {
		signal[p] = float32(f.rng.NormFloat64())
	}
	for i := range f.n {
		own := make([]float32, f.scalar)
		for p := range own {
			own[p] = signal[p] + float32(f.rng.NormFloat64())
		}
		if i < f.liars {
			own = f.lie(f.rng, signal, own)
		}
		all = append(all, own)
	}
	return all
}

func times(factor float32) func(*rand.Rand, []float32, []float32) []float32 {
	return func(_ *rand.Rand, _, own []float32) []float32 {
		for p := range own {
			own[p] *= factor
		}
		return own
	}
}

var lies = map[string]func(*rand.Rand, []float32, []float32) []float32{
	"flipped":       times(-1),
	"scaled, -10 g": times(-10),
	"in league, just below the bound": func(_ *rand.Rand, signal, _ []float32) []float32 {
		out := slices.Clone(signal)
		for p := range out {
			out[p] *= -2.8
		}
		return out
	},
	"half the signal, against it": func(_ *rand.Rand, signal, _ []float32) []float32 {
		out := slices.Clone(signal)
		for p := range out {
			out[p] *= -0.5
		}
		return out
	},
}

// TestTrust has a fifth of the devices lie in different ways. After a few rounds no liar has
// weight, and each of the other devices has.
func TestTrust(t *testing.T) {
	for name, lie := range lies {
		f := fleet{rng: rand.New(rand.NewPCG(5, 6)), n: 20, liars: 4, lie: lie, scalar: 10}
		g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 3, Trust: 10}})
		for r := range 100 {
			g.round(f.round())
			if r < 10 {
				continue
			}
			for slot := range uint32(f.n) {
				_, lost := g.Member(slot)
				weight := g.Weight(slot, 1)
				if slot < 4 && (weight > full/8 || lost < 0.8) || slot >= 4 && weight < full/2 {
					t.Fatalf("%s, round %d: device %d weighs %d of %d", name, r, slot, weight, full)
				}
			}
		}
	}
}

// TestTrustComesBack has a device lie for a while because of a defect. The device has weight again
// later.
func TestTrustComesBack(t *testing.T) {
	f := fleet{rng: rand.New(rand.NewPCG(5, 6)), n: 10, liars: 1, lie: times(-1), scalar: 10}
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 3, Trust: 10}})
	for r := range 80 {
		if r == 40 {
			if w := g.Weight(0, 1); w != 0 {
				t.Errorf("the device weighs %d while it lies, want 0", w)
			}
			f.liars = 0
		}
		g.round(f.round())
	}
	if w := g.Weight(0, 1); w < full/2 {
		t.Errorf("the device weighs %d of %d, want it to count again", w, full)
	}
}

// TestAgreement compares a device's agreement with its equations, in float64: the cosine with the
// sum of the other devices' normalized contributions, averaged over the contributions so far.
func TestAgreement(t *testing.T) {
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 100, Trust: 4}})
	rounds := [][][]float32{
		{{1, 2}, {3, 1}, {2, 5}, {-1, 4}},
		{{2, 0}, {1, 1}, {4, -1}, {0, 3}},
		{{2, 0}, {-1, -1}, {4, -1}, {0, -3}}, // nobody agrees: what devices count stays
	}
	mean, lost := make([]float64, 4), make([]float64, 4)
	for r, all := range rounds {
		g.round(all)
		before := slices.Clone(lost)
		for i, v := range all {
			var others [2]float64
			for j, w := range all {
				if j == i {
					continue
				}
				length := math.Hypot(float64(w[0]), float64(w[1]))
				for p := range others {
					others[p] += (1 - before[j]) * float64(w[p]) / length
				}
			}
			cos := (float64(v[0])*others[0] + float64(v[1])*others[1]) /
				math.Hypot(float64(v[0]), float64(v[1])) / math.Hypot(others[0], others[1])
			mean[i] = (mean[i]*float64(r) + cos) / float64(r+1)
			if got := g.slots[i].agreement; math.Abs(got-mean[i]) > 1e-12 {
				t.Errorf("round %d, device %d: agreement %v, want %v", r, i, got, mean[i])
			}
		}
		usual := slices.Sorted(slices.Values(mean))[1]
		for i := range lost {
			if usual >= 0.2 {
				lost[i] = 1 - min(max(mean[i]/(0.3*usual), 0), 1)
			}
			if _, got := g.Member(uint32(i)); math.Abs(got-lost[i]) > 1e-12 {
				t.Errorf("round %d, device %d: lost %v of its weight, want %v", r, i, got, lost[i])
			}
		}
	}
}

// TestDataDiffer has devices that contradict each other because their data differ. No device loses
// weight, however long that lasts.
func TestDataDiffer(t *testing.T) {
	rng, g := rand.New(rand.NewPCG(8, 9)), newDesk(&plan.Plan{
		RobustFields: plan.RobustFields{Bound: 3, Trust: 100},
	})
	for r := range 300 {
		all, sum := make([][]float32, 10), make([]float32, 10)
		for i := range all {
			all[i] = make([]float32, 10)
			for p := range all[i] {
				all[i][p] = float32(rng.NormFloat64())
				sum[p] += all[i][p] / 10
			}
		}
		for i := range all {
			for p := range sum {
				all[i][p] -= sum[p]
			}
		}
		g.round(all)
		for slot := range uint32(10) {
			if _, lost := g.Member(slot); lost > 0 {
				t.Fatalf("round %d: device %d lost %v of its weight", r, slot, lost)
			}
		}
	}
}

// TestNobodyAgrees has devices cancel each other. All devices keep their weight.
func TestNobodyAgrees(t *testing.T) {
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 3, Trust: 5}})
	g.round([][]float32{{1}, {-1}})
	for slot := range uint32(2) {
		if w := g.Weight(slot, 3); w != 3*full {
			t.Errorf("device %d weighs %d, want %d", slot, w, 3*full)
		}
	}
}
