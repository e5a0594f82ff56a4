package runlog

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// The end of a log tells whether devices looked for the step in vain. A person who asks for the
// step writes another change.
func TestSearch(t *testing.T) {
	p := chaintest.Plan(t)
	p.Run = "search"
	_, err := planfile.SetAll(p, []string{"server_rule=normalized", "step=auto", "mu=auto"})
	if err != nil {
		t.Fatal(err)
	}
	var at Position
	apply := func(r wire.Record) {
		t.Helper()
		if r.N, r.Prev, r.Epoch = at.N+1, at.Hash, 1; r.N == 1 {
			r.Prev, r.Plan = wire.Genesis(p.Run), p
		}
		if _, err := at.Apply(r.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	change := func(settings ...string) {
		t.Helper()
		c := &plan.Change{}
		for _, s := range settings {
			name, value, _ := strings.Cut(s, "=")
			if err := planfile.SetChange(c, name, value); err != nil {
				t.Fatal(err)
			}
		}
		apply(wire.Record{Kind: wire.KindChange, Change: c})
	}
	round := func() {
		t.Helper()
		apply(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: at.Rounds + 1, StepSize: 0.5,
			Perturbations: p.Perturbations, Contributors: 1, Terms: []wire.Term{{}}}})
	}
	notFound := func() { apply(wire.Record{Kind: wire.KindChange, Change: NotFound(&at.Plan)}) }
	for i, test := range []struct {
		record func()
		want   Search
	}{
		{func() { apply(wire.Record{Kind: wire.KindPlan}) }, Search{}},
		{func() { change("mu=0.5") }, Search{Tries: 1}},
		{round, Search{Idle: true}},
		{notFound, Search{Failed: true, Tries: 1}},
		{func() { change("step=auto") }, Search{Tries: 2}},
		{func() { change("mu=0.25", "step=auto") }, Search{Tries: 3}},
		{notFound, Search{Failed: true, Tries: 4}},
		{func() { change("step=2") }, Search{Tries: 5}},
		{func() { change("mu=0.25", "step=auto") }, Search{Tries: 6}},
		{notFound, Search{Failed: true, Tries: 7}},
		{func() { apply(wire.Record{Kind: wire.KindRollback, To: 3}) }, Search{Tries: 8}},
		{round, Search{Idle: true}},
	} {
		test.record()
		if got := at.Search(); got != test.want {
			t.Errorf("%d: %+v, want %+v", i, got, test.want)
		}
	}
}

// A log that begins with a state has no earlier tries.
func TestSearchOfABase(t *testing.T) {
	for n, want := range map[uint64]Search{40: {}, 41: {Tries: 1}} {
		if got := (&Position{Chain: Chain{N: n}, Begins: 40}).Search(); got != want {
			t.Errorf("after record %d: %+v, want %+v", n, got, want)
		}
	}
}
