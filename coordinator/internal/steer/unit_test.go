package steer_test

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/steer"
	"github.com/zofl/zofl/wire"
)

// squareTerm returns the terms of a record whose scalars have a mean square.
func squareTerm(square float64) []wire.Term {
	v := float32(math.Sqrt(square))
	return []wire.Term{{Scalars: wire.AppendScalars(nil, v, -v)}}
}

// A phase is rounds of a kind.
type phase struct {
	rounds       int
	record, each float64
	own          bool
}

// steps returns the steps of phases over the usual ones, of a law that begins with a round.
func steps(first uint64, phases ...phase) (list []float64) {
	var law, usual steer.Law
	p := lawPlan(1)
	p.Steps, p.Perturbations, p.ServerBeta2 = 1, 2, 0.9
	past, other := steer.Past{}, steer.Past{}
	if first > 1 {
		past = steer.Past{Step: usual.Next(p, other, first-1, nil, nil), Round: first - 1}
		other = past
	}
	round := first
	for _, ph := range phases {
		for range ph.rounds {
			law.Measure(p, round, squareTerm(ph.record), ph.each, ph.own)
			past = steer.Past{Step: law.Next(p, past, round, nil, nil), Round: round}
			other = steer.Past{Step: usual.Next(p, other, round, nil, nil), Round: round}
			list = append(list, float64(past.Step/other.Step))
			round++
		}
	}
	return list
}

// TestUnit: while V falls from what own directions make to what shared ones do, steps fall as its
// root, and rest where W does. The equations are computed here from all rounds.
func TestUnit(t *testing.T) {
	phases := []phase{{3, 1, 4, true}, {40, 4, 0, true}, {60, 0.25, 4, true}}
	got := steps(1, phases...)
	v, w, first, i := 0.0, 0.0, 0.0, 0
	for _, ph := range phases {
		each := ph.each
		if each == 0 {
			each = ph.record
		}
		for range ph.rounds {
			v, w = 0.9*v+0.1*ph.record, 0.9*w+0.1*each
			if i == 0 {
				first = math.Sqrt(v / w)
			}
			if want := math.Sqrt(v/w) / first; math.Abs(got[i]-want) > 1e-3*want {
				t.Fatalf("round %d: %v times the usual step, want %v", i+1, got[i], want)
			}
			i++
		}
	}
	if end := got[len(got)-1] / got[42]; math.Abs(end-0.25) > 0.01 {
		t.Errorf("steps fell to %v, want to a quarter", end)
	}
}

// Steps are the usual ones where devices never had their own directions, and after a record
// without scalars.
func TestUnitOfShared(t *testing.T) {
	for i, s := range steps(1, phase{50, 1, 4, false}, phase{50, 1, 16, false}) {
		if s != 1 {
			t.Fatalf("round %d has %v times the usual step", i+1, s)
		}
	}
	got := steps(1, phase{3, 1, 4, true}, phase{10, 4, 0, true}, phase{5, 0, 1, true})
	for i, s := range got[13:] {
		if math.Abs(s-got[12]) > 1e-6*s {
			t.Errorf("round %d of no scalars: %v times the usual step, %v before", i, s, got[12])
		}
	}
}

// A coordinator that takes over lets steps be for 200 rounds, and then goes on from there.
func TestUnitTakenOver(t *testing.T) {
	got := steps(300, phase{99, 1, 4, true}, phase{121, 1, 16, true}, phase{100, 1, 64, true})
	for i, s := range got[:219] {
		if math.Abs(s-1) > 1e-3 {
			t.Fatalf("round %d after: %v times the usual step", i+1, s)
		}
	}
	if end := got[len(got)-1]; math.Abs(end-0.5) > 0.01 {
		t.Errorf("steps end at %v, want half", end)
	}
	var law steer.Law
	p := lawPlan(1)
	p.Steps, p.Perturbations, p.ServerBeta2 = 1, 2, 0.9
	law.Measure(p, 1, squareTerm(1), 4, true)
	law.Reset()
	law.Measure(p, 2, squareTerm(1), 16, true)
	past := steer.Past{Step: law.Next(p, steer.Past{}, 1, nil, nil), Round: 1}
	if got := law.Next(p, past, 2, nil, nil) / past.Step; math.Abs(float64(got)-
		1/math.Sqrt(1+1.0/30)) > 1e-6 {
		t.Errorf("after a rollback the step changes by %v", got)
	}
}
