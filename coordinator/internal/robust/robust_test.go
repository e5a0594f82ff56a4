package robust

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// honest returns the scalars of a device whose |g| are 4 to 8.
func honest(rng *rand.Rand, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32((4 + 4*rng.Float64()) * float64(1-2*rng.IntN(2)))
	}
	return values
}

// A desk is a Bounds with its log, whose records have the mean of all contributions, or each of
// them.
type desk struct {
	Bounds
	plan    *plan.Plan
	past    Past
	relayed bool
}

func newDesk(p *plan.Plan) *desk { return &desk{plan: p} }

// round passes a round of contributions to the Bounds, and returns the factors.
func (d *desk) round(contributions [][]float32) (factors []float64) {
	d.Remember(&d.past)
	d.Begin(d.plan)
	for slot, values := range contributions {
		d.Hold(uint32(slot), &wire.Reply{}, values, 0, nil)
	}
	mean := make([]float32, len(contributions[0]))
	var each [][]float32
	for _, k := range d.Close() {
		factors = append(factors, d.Cut(k.Slot, k.Values))
		each = append(each, k.Values)
		for p, v := range k.Values {
			mean[p] += v / float32(len(contributions))
		}
	}
	if !d.relayed {
		each = [][]float32{mean}
	}
	d.note(uint32(len(contributions)), each...)
	return factors
}

// note adds a record to the log. If there are several terms, each is along its device's own
// directions.
func (d *desk) note(contributors uint32, terms ...[]float32) {
	d.past.Note(planRecord(d.plan), roundRecord(contributors, terms...))
}

// TestBound has one device of ten send 990,000, in the first round and later, beside honest
// contributions of several sizes. The honest contributions stay unchanged.
func TestBound(t *testing.T) {
	for _, size := range []float32{1e-6, 1, 1000} {
		rng := rand.New(rand.NewPCG(1, 2))
		g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 4}})
		for r := range 40 {
			all := make([][]float32, 10)
			for i := range all {
				all[i] = honest(rng, 8)
				for p := range all[i] {
					all[i][p] *= size
				}
			}
			lies := r == 0 || r > 20
			if lies {
				all[3][5] = 990_000 * size
			}
			sent := lengthOf(all[3])
			for i, f := range g.round(all) {
				liar := lies && i == 3
				if !liar && f != 1 || liar && !(f*sent < 4*8*float64(size)) {
					t.Fatalf("size %v, round %d: device %d was cut by %v", size, r, i, f)
				}
			}
		}
		if cuts, _ := g.Member(3); cuts != 20 || g.Cuts != 20 {
			t.Errorf("size %v: %d cuts of the liar, %d of all, want 20", size, cuts, g.Cuts)
		}
	}
}

// TestCutKeepsDirection compares a scaled contribution with the equation v b s/|v|, in float64.
func TestCutKeepsDirection(t *testing.T) {
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 3}})
	g.round([][]float32{ones(30, 1), ones(30, 1), ones(30, 1)})
	values := []float32{30, -40}
	g.Cut(0, values)
	scale := 3 / math.Sqrt((30*30+40*40)/2.) // to 3 times a scale of 1
	for i, v := range []float64{30 * scale, -40 * scale} {
		if math.Abs(float64(values[i])-v) > 1e-6 {
			t.Errorf("scalar %d: got %v, want %v", i, values[i], v)
		}
	}
}

// ones returns n scalars of a size.
func ones(n int, size float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = size
	}
	return v
}

// TestScaleFollows has all contributions grow a thousandfold, as after a change of the loss. The
// log first shows contributions of length 1, and then scaled ones. Each 8 rounds let contributions
// grow by a factor of 4 times the root of 10.
func TestScaleFollows(t *testing.T) {
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 4}})
	cut := 0
	for r := range 60 {
		size := float32(1)
		if r >= 30 {
			size = 1000
		}
		all := make([][]float32, 10)
		for i := range all {
			all[i] = ones(10, size)
		}
		for _, f := range g.round(all) {
			if f < 1 {
				cut++
			}
		}
	}
	if cut != 10*2*8 {
		t.Errorf("%d contributions were cut, want those of 16 rounds, until the log follows", cut)
	}
}

// TestMinorityOfManyRounds has a majority of liars in one round of few contributors. The log bounds
// that round: it shows contributions of length 1, or up to sqrt(3) because all contributions were
// alike.
func TestMinorityOfManyRounds(t *testing.T) {
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 4}})
	for range 20 {
		g.round([][]float32{ones(10, 1), ones(10, 1), ones(10, 1)})
	}
	cut := 4 * math.Sqrt(3) / 1e5
	for i, f := range g.round([][]float32{ones(10, 1), ones(10, 1e5), ones(10, -1e5)}) {
		if want := []float64{1, cut, cut}[i]; math.Abs(f/want-1) > 1e-6 {
			t.Errorf("device %d was cut by %v, want %v", i, f, want)
		}
	}
}

// TestPersistentLiar has one device of ten send as much as it can in every round. The liar does not
// raise the scale from the log, because the round's own median bounds its contribution.
func TestPersistentLiar(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 8}})
	for r := range 200 {
		all := make([][]float32, 10)
		for i := range all {
			all[i] = honest(rng, 10)
		}
		all[7] = ones(10, 1e6)
		if f := g.round(all)[7]; f*1e6 > 8*8 {
			t.Fatalf("round %d: %v of the liar's is left, want at most 64", r, f*1e6)
		}
	}
}

// TestFewScalars has few honest devices send few normal scalars, whose size differs by a factor of
// 3 between devices. Almost none is scaled down, although one scalar is often far from its median.
func TestFewScalars(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, devices := range []int{1, 2, 3, 5, 10} {
		for _, scalars := range []int{1, 2, 5, 10} {
			g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 8}})
			for range 2000 {
				all := make([][]float32, devices)
				for i := range all {
					all[i] = make([]float32, scalars)
					size := float32(math.Pow(3, rng.Float64()))
					for p := range all[i] {
						all[i][p] = size * float32(rng.NormFloat64())
					}
				}
				g.round(all)
			}
			if most := uint64(2 * devices / 10); g.Cuts > most {
				t.Errorf("%d devices, %d scalars: %d of %d contributions were cut, want at most %d",
					devices, scalars, g.Cuts, 2000*devices, most)
			}
		}
	}
}

// TestCancelingDevices has honest devices with different optima. At first the devices agree. Near
// the middle they cancel each other, and their mean shows nothing of their contributions' lengths.
func TestCancelingDevices(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 8}})
	for r := range 200 {
		common := float32(math.Exp(-float64(r) / 10))
		all := make([][]float32, 10)
		for i := range all {
			all[i] = make([]float32, 10)
		}
		for p := range 10 {
			pull := float32(rng.NormFloat64())
			for i := range all {
				all[i][p] = 3*common + pull*float32(1-2*(i%2))
			}
		}
		for i, f := range g.round(all) {
			if f < 1 {
				t.Fatalf("round %d: device %d was cut by %v", r, i, f)
			}
		}
	}
}

// TestLastToLearn has nine devices learn all of their own data, and the first device not. The first
// device's contribution is as long as all were at first, and stays unchanged, however short the
// other contributions become. A lie is cut to twice the usual length of the first rounds. A new
// coordinator knows that length from the log.
func TestLastToLearn(t *testing.T) {
	for _, relayed := range []bool{true, false} {
		rng, g := rand.New(rand.NewPCG(6, 7)), newDesk(&plan.Plan{
			RobustFields: plan.RobustFields{Bound: 8},
		})
		g.relayed = relayed
		for r := range 200 {
			all := make([][]float32, 10)
			for i := range all {
				all[i] = honest(rng, 10)
				for p, v := range all[i] {
					all[i][p] = max(v, -v) // they agree at first
					if i > 0 {
						all[i][p] *= float32(math.Exp(-float64(r) / 10))
					}
				}
			}
			if r == 150 {
				g = &desk{plan: g.plan, past: g.past, relayed: relayed}
			}
			if f := g.round(all)[0]; f < 1 {
				t.Fatalf("relayed %v, round %d: cut by %v", relayed, r, f)
			}
		}
		lie := [][]float32{ones(10, 1e6), ones(10, 1e-8), ones(10, 1e-8)}
		if f := g.round(lie)[0]; f*1e6 > 8*8/4 {
			t.Errorf("relayed %v: %v of a lie is left, want 16 at most", relayed, f*1e6)
		}
	}
}

// TestGuardOfTheLogAlone: a coordinator that has only the log scales contributions down in each
// round exactly as a coordinator that led all rounds.
func TestGuardOfTheLogAlone(t *testing.T) {
	rng, plan := rand.New(rand.NewPCG(5, 6)), &plan.Plan{RobustFields: plan.RobustFields{Bound: 2}}
	g := newDesk(plan)
	for r := range 100 {
		all := make([][]float32, 1+rng.IntN(4))
		var copies [][]float32
		for i := range all {
			all[i] = ones(1+r%3, float32(math.Exp(3*rng.NormFloat64())))
			copies = append(copies, slices.Clone(all[i]))
		}
		other := &desk{plan: plan, past: g.past}
		want, got := g.round(all), other.round(copies)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: cut by %v, want %v", r, got, want)
		}
		if other.past != g.past {
			t.Fatalf("round %d: the logs tell %+v and %+v", r, other.past, g.past)
		}
	}
	if g.Cuts < 10 {
		t.Errorf("%d contributions were cut: the test shows nothing", g.Cuts)
	}
}

func TestNothingIsCutWithoutBound(t *testing.T) {
	g := newDesk(&plan.Plan{})
	for i, f := range g.round([][]float32{{1}, {1e30}, {1}}) {
		if f != 1 {
			t.Errorf("device %d was cut by %v", i, f)
		}
	}
	if g.plan.Bound = 4; g.Cut(0, []float32{0, 0}) != 1 {
		t.Error("zeros were cut")
	}
}

// TestVariates: control variates of earlier, steeper points are scaled down less than
// contributions.
func TestVariates(t *testing.T) {
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 4}})
	for r := range 41 {
		size := float32(1)
		if r == 0 {
			size = 100
		}
		g.round([][]float32{ones(30, size), ones(30, size), ones(30, size)})
	}
	old, lie := []float32{150}, []float32{9e5}
	if g.CutVariate(0, old); old[0] != 150 {
		t.Errorf("an honest variate became %v", old[0])
	}
	if g.CutVariate(1, lie); lie[0] > 693 {
		t.Errorf("a variate of 9e5 became %v, want at most 400 times the root of 3", lie[0])
	}
}

func TestClaims(t *testing.T) {
	plan, g := &plan.Plan{RobustFields: plan.RobustFields{ClaimBound: 4}}, &Bounds{}
	g.Begin(plan)
	if got := g.Samples(1 << 20); got != 1 {
		t.Errorf("a claim before any is known counts %d, want 1", got)
	}
	for range 3 {
		for _, claim := range []uint32{900, 1000, 1100, 1 << 20} {
			g.Hold(0, &wire.Reply{Weight: claim}, nil, 0, nil)
		}
		g.Close()
		g.Begin(plan)
	}
	for claim, want := range map[uint32]uint32{1 << 20: 4000, 1100: 1100, 5: 5} {
		if got := g.Samples(claim); got != want {
			t.Errorf("a claim of %d counts %d, want %d", claim, got, want)
		}
	}
}
