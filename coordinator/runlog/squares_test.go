package runlog

import (
	"math"
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A phase is a number of rounds with the same mean square of scalars, along devices' own directions
// or along shared directions.
type phase struct {
	rounds int
	square float64
	own    bool
}

func (ph phase) terms() (terms []wire.Term) {
	v := float32(math.Sqrt(ph.square))
	for device := range uint32(3) {
		terms = append(terms, wire.Term{Source: device, Scalars: wire.AppendScalars(nil, v, -v)})
	}
	if ph.own {
		return terms
	}
	return terms[:1]
}

// squaresPlan returns a plan in which each device sends two scalars.
func squaresPlan(groups uint8) *plan.Plan {
	return &plan.Plan{
		Dim:          9,
		ProbeFields:  plan.ProbeFields{Steps: 1, Perturbations: 2},
		GroupsFields: plan.GroupsFields{Groups: groups},
		ServerFields: plan.ServerFields{ServerBeta2: 0.9},
	}
}

// factorsOf returns, for each round of phases, the product of all factors up to that round.
func factorsOf(p *plan.Plan, phases ...phase) (list []float64) {
	var s Squares
	product, round := 1.0, uint64(1)
	for _, ph := range phases {
		for range ph.rounds {
			product *= s.Factor(p, round, ph.terms())
			s = s.After(p, round, ph.terms())
			list = append(list, product)
			round++
		}
	}
	return list
}

// TestSquares: while V falls from what own directions make to what shared ones do, factors make its
// root, and 1 where it rests. V and W are computed here from all rounds.
func TestSquares(t *testing.T) {
	phases := []phase{{3, 1, false}, {20, 4, true}, {1, 1, false}, {20, 4, true}, {5, 0, false},
		{80, 0.25, false}}
	got := factorsOf(squaresPlan(grouping.Auto), phases...)
	var squares []float64
	var own []bool
	first, i := 0.0, 0
	for _, ph := range phases {
		for range ph.rounds {
			if ph.square > 0 {
				squares, own = append(squares, ph.square), append(own, ph.own)
			}
			v, vs, w, ws, weight := 0.0, 0.0, 0.0, 0.0, 1.0
			for j := len(squares) - 1; j >= 0; j-- {
				v, vs = v+weight*squares[j], vs+weight
				weight *= 0.9
			}
			weight = 1
			for j := len(squares) - 1; j >= 0; j-- {
				if own[j] {
					w, ws = w+weight*squares[j], ws+weight
					weight *= 0.9
				}
			}
			want := 1.0
			if ws > 0 {
				factor := math.Sqrt(v / vs / (w / ws))
				if first == 0 {
					first = factor
				}
				want = factor / first
			}
			if !(math.Abs(got[i]-want) <= 1e-6*want) { // fails for NaN, too
				t.Fatalf("round %d: factors make %v, want %v", i+1, got[i], want)
			}
			i++
		}
	}
	if end := got[len(got)-1] / got[42]; !(math.Abs(end-0.25) <= 0.01) {
		t.Errorf("factors make %v, want a quarter", end)
	}
}

// TestSquaresThatGrow: while all share V may grow, and the factors make no step longer, not even
// beyond where V began to fall. Own directions begin anew.
func TestSquaresThatGrow(t *testing.T) {
	for _, test := range []struct {
		grown phase
		want  float64
	}{
		{phase{80, 25, false}, 0.25},
		{phase{80, 0.0625, false}, 0.125},
		{phase{80, 25, true}, 1},
	} {
		list := factorsOf(squaresPlan(grouping.Auto), phase{80, 4, true}, phase{80, 0.25, false},
			test.grown)
		if end := list[len(list)-1]; !(math.Abs(end-test.want) <= 0.01*test.want) {
			t.Errorf("after %+v factors make %v, want %v", test.grown, end, test.want)
		}
	}
}

// All factors are 1 if devices never had their own directions, or without groups=auto.
func TestSquaresOfOthers(t *testing.T) {
	for _, test := range []struct {
		groups uint8
		phases []phase
	}{
		{grouping.Auto, []phase{{50, 1, false}, {50, 16, false}}},
		{grouping.Sketch, []phase{{50, 1, true}, {50, 16, false}}},
	} {
		for i, s := range factorsOf(squaresPlan(test.groups), test.phases...) {
			if s != 1 {
				t.Fatalf("groups %d, round %d: factors make %v", test.groups, i+1, s)
			}
		}
	}
}
