package guard

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/prng"
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

// round lets a guard see a round of contributions, and returns their factors.
func round(g *Guard, p *wire.Plan, contributions [][]float32) (factors []float64) {
	g.Begin(p)
	for slot, values := range contributions {
		g.See(values, 1)
		if g.Holds() {
			g.Hold(Contribution{Slot: uint32(slot), Values: values})
		} else {
			factors = append(factors, g.Cut(uint32(slot), values))
		}
	}
	for _, k := range g.Close() {
		factors = append(factors, g.Cut(k.Slot, k.Values))
	}
	return factors
}

// TestBound has one device of ten send 990,000 in the first round, later, and among contributions
// of any size. What the others send stays as it is.
func TestBound(t *testing.T) {
	for _, size := range []float32{1e-6, 1, 1000} {
		rng := rand.New(rand.NewPCG(1, 2))
		plan, g := &wire.Plan{Bound: 4, MaxScalar: 1e30}, &Guard{}
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
			for i, f := range round(g, plan, all) {
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

// TestCutKeepsDirection compares a cut with its equation, v b s/|v|, in float64.
func TestCutKeepsDirection(t *testing.T) {
	plan, g := &wire.Plan{Bound: 3}, &Guard{}
	round(g, plan, [][]float32{{1, 1}, {-1, 1}, {1, -1}})
	g.Begin(plan)
	values := []float32{30, -40}
	g.Cut(0, values)
	scale := 3 / math.Sqrt((30*30+40*40)/2.) // to 3 times a scale of 1
	for i, v := range []float64{30 * scale, -40 * scale} {
		if math.Abs(float64(values[i])-v) > 1e-6 {
			t.Errorf("scalar %d: got %v, want %v", i, values[i], v)
		}
	}
}

// TestScaleFollows has all contributions grow a thousandfold, as after a change of the loss.
func TestScaleFollows(t *testing.T) {
	plan, g := &wire.Plan{Bound: 4}, &Guard{}
	cut := 0
	for r := range 60 {
		size := float32(1)
		if r >= 30 {
			size = 1000
		}
		for _, f := range round(g, plan, [][]float32{{size}, {size}, {-size}}) {
			if f < 1 {
				cut++
			}
		}
	}
	if cut != 3*8 {
		t.Errorf("%d contributions were cut, want those of 8 rounds, until the median follows", cut)
	}
}

// TestMinorityOfManyRounds has a majority of liars in one round of few contributors. The running
// median holds.
func TestMinorityOfManyRounds(t *testing.T) {
	plan, g := &wire.Plan{Bound: 4}, &Guard{}
	for range 20 {
		round(g, plan, [][]float32{{1}, {1}, {1}})
	}
	for i, f := range round(g, plan, [][]float32{{1}, {1e5}, {-1e5}}) {
		if want := []float64{1, 4e-5, 4e-5}[i]; math.Abs(f/want-1) > 1e-6 {
			t.Errorf("device %d was cut by %v, want %v", i, f, want)
		}
	}
}

func TestNothingIsCutWithoutBound(t *testing.T) {
	plan, g := &wire.Plan{}, &Guard{}
	for i, f := range round(g, plan, [][]float32{{1}, {1e30}, {1}}) {
		if f != 1 {
			t.Errorf("device %d was cut by %v", i, f)
		}
	}
	if plan.Bound = 4; g.Cut(0, []float32{0, 0}) != 1 {
		t.Error("zeros were cut")
	}
}

// TestVariates cuts those of earlier, steeper points less than a contribution.
func TestVariates(t *testing.T) {
	plan, g := &wire.Plan{Bound: 4}, &Guard{}
	round(g, plan, [][]float32{{100}, {100}, {100}})
	for range 40 {
		round(g, plan, [][]float32{{1}, {1}, {1}})
	}
	g.Begin(plan)
	old, lie := []float32{150}, []float32{9e5}
	if g.CutVariate(0, old); old[0] != 150 {
		t.Errorf("an honest variate became %v", old[0])
	}
	if g.CutVariate(1, lie); lie[0] > 401 {
		t.Errorf("a variate of 9e5 became %v, want at most 400", lie[0])
	}
}

func TestClaims(t *testing.T) {
	plan, g := &wire.Plan{ClaimBound: 4}, &Guard{}
	g.Begin(plan)
	if got := g.Samples(1 << 20); got != 1 {
		t.Errorf("a claim before any is known counts %d, want 1", got)
	}
	for range 3 {
		for _, claim := range []uint32{900, 1000, 1100, 1 << 20} {
			g.See(nil, claim)
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

// TestRecall takes the scale from records, of single contributions and of means.
func TestRecall(t *testing.T) {
	record := func(contributors uint32, terms ...[]float32) []byte {
		body := &wire.Round{Round: 1, StepSize: 1, Perturbations: 2, Contributors: contributors}
		for i, values := range terms {
			source := prng.Shared
			if len(terms) > 1 {
				source = prng.Slot(uint32(i))
			}
			body.Terms = append(body.Terms, wire.Term{Source: source,
				Scalars: wire.AppendScalars(nil, values...)})
		}
		return (&wire.Record{N: 2, Epoch: 1, Kind: wire.KindRound, Round: body}).Append(nil)
	}
	for name, c := range map[string]struct {
		record []byte
		want   float64
	}{
		"relay":   {record(3, []float32{5, 5}, []float32{4, -4}, []float32{70, 0}), 5},
		"mean":    {record(16, []float32{1, -1}), 4},
		"garbage": {[]byte{1, 2, 3}, 0},
	} {
		g := &Guard{}
		plan := &wire.Plan{Bound: 4, Steps: 1, Perturbations: 2}
		if g.Recall(plan, [][]byte{c.record}); math.Abs(g.told-c.want) > 1e-6 {
			t.Errorf("%s: scale %v, want %v", name, g.told, c.want)
		}
		if c.want == 0 {
			continue
		}
		// A majority that lies in the first round after a restart is bounded by the log.
		f := round(g, plan, [][]float32{{1e5, 1e5}, {1e5, 1e5}, {1, 1}})[0]
		if most := 4 * c.want / 1e5; math.Abs(f/most-1) > 1e-6 {
			t.Errorf("%s: a lie was cut by %v, want %v", name, f, most)
		}
	}
}

// TestVectorsDoNotWait: a bound says nothing of vectors, which are summed as they come.
func TestVectorsDoNotWait(t *testing.T) {
	g := &Guard{}
	for transport, want := range map[wire.Transport]bool{wire.Mean: true, wire.Relay: true,
		wire.DenseVectors: false} {
		if g.Begin(&wire.Plan{Bound: 8, Transport: transport}); g.Holds() != want {
			t.Errorf("%v holds: %v, want %v", transport, g.Holds(), want)
		}
	}
}
