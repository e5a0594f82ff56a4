package robust

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/plan"
)

// TestConduct compares ways in which the length of one device's contributions can differ from the
// others', whose length falls as they learn. Only a device that is far longer from the beginning
// is a suspect: with a rare label, a device is longer than the others only once these have learned.
func TestConduct(t *testing.T) {
	falling := func(round int) float64 { return max(math.Exp(-float64(round)/30), 0.1) }
	for name, k := range map[string]struct {
		length func(round int) float64
		from   int // rounds after which it is a suspect until the end; -1: never
	}{
		"alike":                             {falling, -1},
		"ten times":                         {func(r int) float64 { return 10 * falling(r) }, least},
		"a huge lie":                        {func(int) float64 { return 6e4 }, least},
		"twice as long, and does not learn": {func(int) float64 { return 2 }, -1},
		"long in one round of three": {func(r int) float64 {
			if r%3 > 0 {
				return falling(r)
			}
			return 100
		}, -1},
		"a lie from round 100 on": {func(r int) float64 {
			if r < 100 {
				return falling(r)
			}
			return 100
		}, 100 + recent/2 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 1.5}})
			g.relayed = true
			rng := rand.New(rand.NewPCG(1, 2))
			for r := range 150 {
				var sent [][]float32
				for d := range 5 {
					length := falling(r)
					if d == 4 {
						length = k.length(r)
					}
					values := make([]float32, 10)
					for p := range values {
						values[p] = float32(length * rng.NormFloat64())
					}
					sent = append(sent, values)
				}
				g.round(sent)
				named := len(g.Suspects(false)) > 0
				if want := k.from >= 0 && r+1 >= k.from; named != want {
					t.Fatalf("round %d: suspects %+v, want %t", r+1, g.Suspects(false), want)
				}
				if named && g.Suspects(false)[0].Slot != 4 {
					t.Fatalf("round %d: suspects %+v", r+1, g.Suspects(false))
				}
			}
		})
	}
}

// TestContradiction: with trust, a device that contradicts the others in most of its last rounds is
// a suspect, although its contributions are as long as theirs.
func TestContradiction(t *testing.T) {
	f := fleet{rng: rand.New(rand.NewPCG(5, 6)), n: 10, scalar: 10}
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 1.5, Trust: 20}})
	for range 60 {
		sent := f.round()
		for p := range sent[9] {
			sent[9][p] = -sent[8][p]
		}
		g.round(sent)
	}
	list := g.Suspects(false)
	if len(list) != 1 || list[0].Slot != 9 || list[0].Did !=
		"16 of its last 16 contributions contradicted the others, or repeated some" {
		t.Errorf("suspects %+v", list)
	}
}

// TestRootsAreNoSuspects: the operator vouches for a root, however long its contributions are.
func TestRootsAreNoSuspects(t *testing.T) {
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 1.5, Trust: 20,
		Roots: []string{"root"}}})
	g.Root = func(slot uint32) bool { return slot == 0 }
	for range recent {
		g.round([][]float32{ones(10, 100), ones(10, 1), ones(10, 1), ones(10, 1), ones(10, 100)})
	}
	if list := g.Suspects(false); len(list) != 1 || list[0].Slot != 4 {
		t.Errorf("suspects %+v", list)
	}
}
