package steer_test

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/steer"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/grouping"
)

// A phase is rounds whose scalars have a mean square, along devices' own directions or shared ones.
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

// unitPlan returns a plan of two scalars a device.
func unitPlan(groups uint8) *wire.Plan {
	p := lawPlan(1)
	p.Groups, p.Steps, p.Perturbations, p.ServerBeta2 = groups, 1, 2, 0.9
	return p
}

// stepsOver returns the steps of phases over those of a run without scalars.
func stepsOver(p *wire.Plan, phases ...phase) (list []float64) {
	var law, usual steer.Law
	var past, other steer.Past
	round := uint64(1)
	for _, ph := range phases {
		for range ph.rounds {
			step := law.Next(p, past, round, ph.terms(), nil)
			past = steer.Past{Step: step, Round: round,
				Squares: past.Squares.After(p, round, ph.terms())}
			other = steer.Past{Step: usual.Next(p, other, round, nil, nil), Round: round}
			list = append(list, float64(past.Step/other.Step))
			round++
		}
	}
	return list
}

// TestSquares: while V falls from what own directions make to what shared ones do, steps fall as
// its root, and rest where it does; a shared round in between hardly matters. V and W are computed
// here from all rounds.
func TestSquares(t *testing.T) {
	phases := []phase{{3, 1, false}, {20, 4, true}, {1, 1, false}, {20, 4, true}, {5, 0, false},
		{80, 0.25, false}}
	got := stepsOver(unitPlan(grouping.Auto), phases...)
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
			if math.Abs(got[i]-want) > 1e-3*want {
				t.Fatalf("round %d: %v times the usual step, want %v", i+1, got[i], want)
			}
			i++
		}
	}
	if end := got[len(got)-1] / got[42]; math.Abs(end-0.25) > 0.01 {
		t.Errorf("steps fell to %v, want to a quarter", end)
	}
}

// Steps are the usual ones where devices never had directions of their own, and without
// groups=auto.
func TestSquaresOfOthers(t *testing.T) {
	for _, test := range []struct {
		groups uint8
		phases []phase
	}{
		{grouping.Auto, []phase{{50, 1, false}, {50, 16, false}}},
		{grouping.Sketch, []phase{{50, 1, true}, {50, 16, false}}},
	} {
		for i, s := range stepsOver(unitPlan(test.groups), test.phases...) {
			if s != 1 {
				t.Fatalf("groups %d: round %d has %v times the usual step", test.groups, i+1, s)
			}
		}
	}
}
