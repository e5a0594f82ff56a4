package runlog

import (
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// The end of a log tells whether devices looked for the step in vain. A person who asks for the
// step writes another change.
func TestSearch(t *testing.T) {
	p := &plan.Plan{LocalFields: plan.LocalFields{StepAuto: 1}}
	found := &plan.Plan{LocalFields: plan.LocalFields{StepAuto: 1, StepSize: 2}}
	for i, test := range []struct {
		n, round uint64
		change   *plan.Change
		plan     *plan.Plan
		want     Search
	}{
		{1, 0, nil, p, Search{}},
		{2, 0, &plan.Change{Fields: []uint64{fieldMu}}, p, Search{Tries: 1}},
		{6, 6, nil, p, Search{Idle: true}},
		{7, 6, NotFound(p), p, Search{Failed: true, Tries: 1}},
		{8, 6, &plan.Change{Fields: []uint64{fieldStep}}, p, Search{Tries: 2}},
		{9, 6, &plan.Change{Fields: []uint64{fieldMu, fieldStep}}, found, Search{Tries: 3}},
		{10, 6, nil, p, Search{Tries: 4}}, // a rollback
	} {
		at := Position{Chain: Chain{N: test.n}, LastRound: test.round, Change: test.change,
			Plan: *test.plan}
		if got := at.Search(); got != test.want {
			t.Errorf("%d: %+v, want %+v", i, got, test.want)
		}
	}
}

// Apply notes the last round and the last change.
func TestSearchFollowsTheLog(t *testing.T) {
	log := &Memory{}
	chaintest.Append(t, log, chaintest.Records(t, 3))
	_, add := continueLog(t, log)
	change := &plan.Change{Fields: []uint64{fieldMu}, Values: plan.Plan{
		ProbeFields: plan.ProbeFields{Mu: 0.5}}}
	add(wire.Record{Kind: wire.KindChange, Change: change})
	add(wire.Record{Kind: wire.KindRollback, To: 3})
	for last, want := range map[uint64]Search{3: {Idle: true}, 4: {Tries: 1}, 5: {Tries: 2}} {
		got, err := Replay(t.Context(), log, last, func([]byte) {})
		if err != nil || got.Search() != want || (got.Change != nil) != (last == 4) {
			t.Errorf("after record %d: %+v, %v, %v, want %+v", last, got.Search(), got.Change, err, want)
		}
	}
}
