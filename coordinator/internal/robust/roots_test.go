package robust

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
)

// newRooted returns a desk on which the device of one slot is a root.
func newRooted(p *plan.Plan, root uint32) *desk {
	p.Roots = []string{"root"}
	d := newDesk(p)
	d.Root = func(slot uint32) bool { return slot == root }
	return d
}

// TestRoots has a fifth of the devices lie in different ways, while the data of all other devices
// differ. After a few rounds no liar has weight, and each honest device has.
func TestRoots(t *testing.T) {
	for name, lie := range lies {
		f := fleet{rng: rand.New(rand.NewPCG(5, 6)), n: 21, liars: 4, lie: lie, scalar: 10}
		g := newRooted(&plan.Plan{RobustFields: plan.RobustFields{Bound: 3, Trust: 100}}, 20)
		for r := range 200 {
			all := f.round()
			for i := range all[4:20] { // whose pull along some directions is 4 times the signal's
				all[4+i][i%10] += 4 * float32(1-2*(i/10))
			}
			g.round(all)
			if r < 50 {
				continue
			}
			for slot := range uint32(f.n) {
				_, lost := g.Member(slot)
				if liar := slot < 4; liar && g.Weight(slot, 1) > 0 || !liar && lost > 0.7 {
					t.Fatalf("%s, round %d: device %d lost %v of its weight", name, r, slot, lost)
				}
			}
		}
	}
}

// TestRootEquations compares three results with their equations, in float64: the agreement with the
// roots, the weight that devices lose, and how far a contribution is moved towards the roots.
func TestRootEquations(t *testing.T) {
	g := newRooted(&plan.Plan{RobustFields: plan.RobustFields{Bound: 100, Trust: 4}}, 3)
	rounds := [][][]float32{
		{{1, 2}, {3, -1}, {2, 5}, {-1, 4}},
		{{2, 0}, {1, -1}, {4, -1}, {0, 3}},
		{{2, 0.1}, {-1, -1}, {4, -0.2}, {0, -3}},
	}
	help, most := make([]float64, 3), make([]float64, 3)
	p := plainFit{keep: 0.75}
	for r, all := range rounds {
		sent := make([][]float32, len(all))
		for i := range all {
			sent[i] = slices.Clone(all[i])
		}
		g.round(all)
		root, away := sent[3], make([]float64, 3)
		for i := range away {
			x, y := float64(sent[i][0]), float64(sent[i][1])
			a, b := float64(root[0]), float64(root[1])
			help[i] = 0.75*help[i] + x*a + y*b
			most[i] = 0.75*most[i] + math.Hypot(x, y)*math.Hypot(a, b)
			away[i] = math.Hypot(x-a, y-b)
		}
		share := make([]float64, 3)
		for i := range away {
			share[i] = 1 - min(max(1+help[i]/most[i]/0.05, 0), 1)
		}
		noise := p.noise(sent, g.scale(), share)
		for i := range away {
			want := 1 - (1-share[i])*(1-noise[i])
			if _, lost := g.Member(uint32(i)); math.Abs(lost-want) > 0.003 { // after 8 sweeps
				t.Errorf("round %d, device %d: lost %v of its weight, want %v", r, i, lost, want)
			}
		}
		s := 0.0
		for range 100 {
			s = g.fit.solve(func(slot int) bool { return share[slot] < 1 })
		}
		for i := range away {
			if got := 1 - g.fit.weights[i]/s; share[i] < 1 && math.Abs(got-noise[i]) > 1e-9 {
				t.Errorf("round %d, device %d: noise of %v, want %v", r, i, got, noise[i])
			}
		}
		reach := slices.Sorted(slices.Values(away))[1]
		for i, k := range g.held {
			for p, got := range k.Values {
				want := float64(sent[i][p])
				if i < 3 && away[i] > reach {
					want = float64(root[p]) + (want-float64(root[p]))*reach/away[i]
				}
				if math.Abs(float64(got)-want) > 1e-6 {
					t.Errorf("round %d, device %d: scalar %d is %v, want %v", r, i, p, got, want)
				}
			}
		}
	}
}

// TestNoRoot: Vouched is false for a round to which no root contributes. If such a round closes all
// the same, it does not move the model, whatever devices sent. So liars train nothing if an
// operator names the roots wrongly.
func TestNoRoot(t *testing.T) {
	g := newRooted(&plan.Plan{RobustFields: plan.RobustFields{Bound: 3, Trust: 10}}, 7)
	g.round([][]float32{{1, 1}, {1, 2}, {-9, 9}})
	if g.Vouched() {
		t.Error("the round is vouched for without a root")
	}
	for _, k := range g.held {
		if k.Values[0] != 0 || k.Values[1] != 0 || g.Weight(k.Slot, 1) == 0 {
			t.Errorf("device %d: %v with weight %d, want zeros that count", k.Slot, k.Values,
				g.Weight(k.Slot, 1))
		}
	}
	for _, plan := range []*plan.Plan{{
		RobustFields: plan.RobustFields{Bound: 3, Trust: 10},
	}, {
		RobustFields: plan.RobustFields{Bound: 3, Roots: []string{"a"}},
	}} {
		g.plan = plan
		if g.round([][]float32{{1, 1}, {1, 2}}); !g.Vouched() || g.held[1].Values[0] != 1 {
			t.Errorf("roots %v, trust %d: a root is asked for", plan.Roots, plan.Trust)
		}
	}
}

// TestNoCreditForLength: a liar cannot, by one honest contribution of any length, make its lies
// count for long.
func TestNoCreditForLength(t *testing.T) {
	f := fleet{rng: rand.New(rand.NewPCG(5, 6)), n: 21, liars: 1, lie: times(1), scalar: 10}
	g := newRooted(&plan.Plan{RobustFields: plan.RobustFields{Bound: 1.5, Trust: 100}}, 20)
	for r := range 20 {
		if r == 1 {
			f.lie = times(-1)
		}
		all := f.round()
		if r == 0 {
			for p, v := range all[20] {
				all[0][p] = 1e5 * v
			}
		}
		g.round(all)
	}
	if w := g.Weight(0, 1); w > 0 {
		t.Errorf("the liar weighs %d after 19 lies, want 0", w)
	}
}
