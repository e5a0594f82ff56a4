package runlog

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// continueLog replays a log of three records. It returns the position, and a function that moves
// both by one record.
func continueLog(t *testing.T, log Log) (*Position, func(wire.Record)) {
	t.Helper()
	p, err := Replay(t.Context(), log, 3, func([]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	return &p, func(r wire.Record) {
		t.Helper()
		r.N, r.Prev, r.Epoch = p.N+1, p.Hash, 5
		b := r.Append(nil)
		if _, err := p.Follow(b); err != nil {
			t.Fatal(err)
		}
		chaintest.Append(t, log, [][]byte{b})
	}
}

// A change to the step that the plan has keeps the last step, also if a person gives six digits.
func TestLastStepOfTheSameStep(t *testing.T) {
	log := &Memory{}
	chaintest.Append(t, log, chaintest.Records(t, 3))
	_, add := continueLog(t, log)
	for n, step := range []float32{1. / 4096, 0.000244141, 0.000245} {
		add(wire.Record{Kind: wire.KindChange, Change: &plan.Change{Fields: []uint64{fieldStep},
			Values: plan.Plan{LocalFields: plan.LocalFields{StepSize: step}}}}) // 4, 6, 8
		add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: uint64(n + 3), StepSize: 0.5,
			Terms: []wire.Term{{}}}})
	}
	for last, want := range map[uint64]LastStep{4: {}, 5: {0.5, 3}, 6: {0.5, 3}, 7: {0.5, 4}, 8: {}} {
		got, err := Replay(t.Context(), log, last, func([]byte) {})
		if err != nil || got.LastStep != want {
			t.Errorf("after record %d: %+v, %v, want %+v", last, got.LastStep, err, want)
		}
	}
}

// A rollback keeps the last step only if the plan's step stays the same.
func TestLastStep(t *testing.T) {
	log := &Memory{}
	chaintest.Append(t, log, chaintest.Records(t, 3)) // rounds 1 and 2
	_, add := continueLog(t, log)
	round := func(n uint64, step float32) wire.Record {
		return wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: n, StepSize: step,
			Terms: []wire.Term{{}}}}
	}
	add(round(3, 0.5))                               // 4
	add(wire.Record{Kind: wire.KindRollback, To: 3}) // 5
	add(wire.Record{Kind: wire.KindChange, Change: &plan.Change{Fields: []uint64{fieldStep},
		Values: plan.Plan{LocalFields: plan.LocalFields{StepSize: 9}}}}) // 6
	add(round(3, 0.25))                              // 7
	add(wire.Record{Kind: wire.KindRollback, To: 6}) // 8
	add(wire.Record{Kind: wire.KindRollback, To: 4}) // 9
	add(wire.Record{Kind: wire.KindRollback, To: 7}) // 10
	for last, want := range map[uint64]LastStep{4: {0.5, 3}, 5: {0.5, 3}, 6: {}, 7: {0.25, 3},
		8: {0.25, 3}, 9: {}, 10: {}} {
		got, err := Replay(t.Context(), log, last, func([]byte) {})
		if err != nil || got.LastStep != want {
			t.Errorf("after record %d: %+v, %v, want %+v", last, got.LastStep, err, want)
		}
	}
}

// Replay computes the same Squares from a log as the test does from its rounds.
func TestSquaresOfLog(t *testing.T) {
	plan := chaintest.PlanWith(t, []string{"sharing=groups", "transport=relay", "groups=auto",
		"group_size=0", "regroup=2", "server_rule=normalized", "server_beta1=0.9",
		"server_beta2=0.99"}, 3)
	var p Position
	var want Squares
	apply := func(r wire.Record) {
		t.Helper()
		if r.N, r.Prev, r.Epoch = p.N+1, p.Hash, 5; r.N == 1 {
			r.Prev = wire.Genesis(plan.Run)
		}
		if _, err := p.Apply(r.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	apply(wire.Record{Kind: wire.KindPlan, Plan: plan})
	for round := uint64(1); round < 6; round++ {
		var terms []wire.Term
		for source := range uint32(1 + 2*(round%2)) { // all have their own directions, or share them
			terms = append(terms, wire.Term{Source: source, Scalars: wire.AppendScalars(nil,
				float32(round), 1, 2)})
		}
		apply(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: round, StepSize: 1,
			Contributors: 3, Terms: terms}})
		before := want
		if want = want.After(plan, round, terms); p.Squares != want || want == before {
			t.Errorf("round %d: %+v, want %+v", round, p.Squares, want)
		}
	}
}

func TestReplayChangesAndRollbacks(t *testing.T) {
	log := &Memory{}
	chaintest.Append(t, log, chaintest.Records(t, 3)) // rounds 1 and 2
	_, add := continueLog(t, log)
	const step = 18 // the field's number
	change := plan.Change{Fields: []uint64{step}, Values: plan.Plan{
		LocalFields: plan.LocalFields{StepSize: 9},
	}}
	add(wire.Record{Kind: wire.KindChange, Change: &change})
	add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: 3, StepSize: 9,
		Terms: []wire.Term{{}}}})
	add(wire.Record{Kind: wire.KindRollback, To: 2})
	add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: 2, StepSize: 1,
		Terms: []wire.Term{{}}}})
	for _, test := range []struct {
		last, rounds uint64
		step         float32
	}{{3, 2, 0.001}, {4, 2, 9}, {5, 3, 9}, {6, 1, 0.001}, {7, 2, 0.001}} {
		got, err := Replay(t.Context(), log, test.last, func([]byte) {})
		if err != nil || got.Rounds != test.rounds || got.Plan.StepSize != test.step ||
			got.N != test.last {
			t.Errorf("after record %d: n=%d rounds=%d step=%v, %v, want rounds=%d step=%v",
				test.last, got.N, got.Rounds, got.Plan.StepSize, err, test.rounds, test.step)
		}
	}
	if _, err := Replay(t.Context(), log, 8, func([]byte) {}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("replay of a record that is missing: %v, want ErrCorrupt", err)
	}
}

// TestHistory compares the states that rollbacks return to, and the rounds on the path, with an
// account of every record.
func TestHistory(t *testing.T) {
	for _, control := range []string{"none", "scaffold-1", "scaffold-2"} {
		t.Run(control, func(t *testing.T) {
			p := chaintest.Plan(t)
			if err := planfile.Set(p, "control", control); err != nil {
				t.Fatal(err)
			}
			h := &historian{t: t, rng: rand.New(rand.NewPCG(8, 8))}
			h.add(wire.Record{Kind: wire.KindPlan, Plan: p})
			for range 2000 {
				h.addAny()
			}
			h.check()
			if got := len(h.p.history.stretches); got > 500 {
				t.Errorf("%d stretches for about 120 changes and rollbacks", got)
			}
		})
	}
}

// A historian makes a random log, and notes the state after each record.
type historian struct {
	t             *testing.T
	rng           *rand.Rand
	p             Position
	perturbations uint32
	after         []moment // record n at n-1
}

type moment struct {
	rounds uint64
	point  Point
	mu     float32
	path   map[uint64]uint32 // P of the rounds on the path
}

func (h *historian) add(r wire.Record) {
	h.t.Helper()
	if r.N, r.Epoch, r.Prev = h.p.N+1, 1, h.p.Hash; r.N == 1 {
		r.Prev = wire.Genesis("r")
	}
	if _, err := h.p.Apply(r.Append(nil)); err != nil {
		h.t.Fatal(err)
	}
	m := moment{h.p.Rounds, h.p.Point, h.p.Plan.Mu, map[uint64]uint32{}}
	from := r.N - 1
	if r.Kind == wire.KindRollback {
		from = r.To
	}
	if from > 0 {
		m.path = maps.Clone(h.after[from-1].path)
	}
	if r.Kind == wire.KindRound {
		m.path[r.N] = r.Round.Perturbations
	}
	h.after = append(h.after, m)
}

func (h *historian) addAny() {
	switch k := h.rng.IntN(50); k {
	case 0:
		change := &plan.Change{}
		if err := planfile.SetChange(change, "mu", strconv.Itoa(1+h.rng.IntN(1000))); err != nil {
			h.t.Fatal(err)
		}
		h.add(wire.Record{Kind: wire.KindChange, Change: change})
	case 1:
		to := 1 + h.rng.Uint64N(h.p.N)
		h.add(wire.Record{Kind: wire.KindRollback, To: to})
		if got, want := h.after[h.p.N-1], h.after[to-1]; got.rounds != want.rounds ||
			got.point != want.point || got.mu != want.mu {
			h.t.Fatalf("record %d, to %d: %+v, want %+v", h.p.N, to, got, want)
		}
	case 2:
		h.perturbations++ // another P
		fallthrough
	default:
		round := wire.Round{Phase: h.p.Due(), Round: h.p.Rounds + 1, Perturbations: 1 +
			h.perturbations%3, StepSize: 1, Terms: []wire.Term{{}}}
		h.add(wire.Record{Kind: wire.KindRound, Round: &round})
	}
}

func (h *historian) check() {
	for i, want := range h.after {
		n := uint64(i) + 1
		if plan, rounds, point := h.p.history.at(n); rounds != want.rounds || plan.Mu != want.mu ||
			point != want.point {
			h.t.Fatalf("after record %d: round %d, mu %v, %+v, want %+v", n, rounds, plan.Mu, point,
				want)
		}
		for m := range n + 3 {
			perturbations, ok := want.path[m]
			if got, round := h.p.history.round(m, n); round != ok || ok && got != perturbations {
				h.t.Fatalf("after record %d: record %d is a round: %v, P = %d; want %v, %d", n, m,
					round, got, ok, perturbations)
			}
		}
	}
}

// TestPhasesTakeTurns: a log whose phases do not alternate is corrupt.
func TestPhasesTakeTurns(t *testing.T) {
	for _, test := range []struct {
		control string
		phases  []uint8
		fails   bool
	}{
		{"none", []uint8{0, 0}, false},
		{"none", []uint8{1}, true},
		{"scaffold-2", []uint8{0, 2}, true},
		{"scaffold-1", []uint8{1, 2, 1, 2}, false},
		{"scaffold-1", []uint8{0}, true},
		{"scaffold-1", []uint8{2}, true},
		{"scaffold-1", []uint8{1, 1}, true},
		{"scaffold-1", []uint8{1, 2, 2}, true},
		{"scaffold-1", []uint8{3}, true},
	} {
		plan := chaintest.Plan(t)
		if err := planfile.Set(plan, "control", test.control); err != nil {
			t.Fatal(err)
		}
		var p Position
		_, err := p.Apply((&wire.Record{N: 1, Prev: wire.Genesis("r"), Epoch: 1,
			Kind: wire.KindPlan, Plan: plan}).Append(nil))
		for i, phase := range test.phases {
			if err != nil {
				t.Fatalf("%s, phases %d: %v before the last", test.control, test.phases, err)
			}
			before := p.N
			r := wire.Record{N: p.N + 1, Prev: p.Hash, Epoch: 1, Kind: wire.KindRound,
				Round: &wire.Round{Round: p.Rounds + 1, Phase: phase, StepSize: 1,
					Terms: []wire.Term{{}}}}
			if _, err = p.Apply(r.Append(nil)); err != nil &&
				(p.N != before || i < len(test.phases)-1) {
				t.Errorf("%s, phases %d: the position is after record %d: %v", test.control,
					test.phases, p.N, err)
			}
		}
		if errors.Is(err, ErrCorrupt) != test.fails || err != nil && !test.fails {
			t.Errorf("%s, phases %d: %v, want corrupt: %v", test.control, test.phases, err,
				test.fails)
		}
	}
}

// Rounds of two phases with the same number of perturbations, as with a surrogate, need only one
// stretch.
func TestPhasesExtendAStretch(t *testing.T) {
	pl, err := preset.Unbound("fzoos", "r", 6)
	if err != nil {
		t.Fatal(err)
	}
	pl.RunKey = make(plan.Bytes, 32)
	h := &historian{t: t}
	h.add(wire.Record{Kind: wire.KindPlan, Plan: pl})
	for n := uint64(2); n < 9; n++ {
		h.add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{
			Phase: h.p.Due(), Round: h.p.Rounds + 1, StepSize: 1, Contributors: 1,
			Object: make([]byte, wire.ObjectLen),
		}})
	}
	h.check()
	if got := len(h.p.history.stretches); got != 1 {
		t.Errorf("%d stretches of rounds that are all alike, want 1", got)
	}
}

func TestNothingFollowsAnEnd(t *testing.T) {
	log := &Memory{}
	chaintest.Append(t, log, chaintest.Records(t, 3))
	p, add := continueLog(t, log)
	add(wire.Record{Kind: wire.KindEnd, End: &wire.End{Reason: wire.EndRequested}})
	add(wire.Record{Kind: wire.KindRollback, To: 1})
	if _, err := Replay(t.Context(), log, p.N, func([]byte) {}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a log that goes on after its end: %v, want ErrCorrupt", err)
	}
}

// A countedLog counts calls of Read, and fails after 1000 of them.
type countedLog struct {
	Memory
	reads int
}

func (l *countedLog) Read(ctx context.Context, from uint64,
	f func(n uint64, record []byte) bool) error {
	if l.reads++; l.reads > 1000 {
		return errors.New("too many reads")
	}
	return l.Memory.Read(ctx, from, f)
}

func TestReplayReadsTheLogOnce(t *testing.T) {
	log := &countedLog{}
	chaintest.Append(t, log, chaintest.Records(t, 3)) // rounds 1 and 2
	p, add := continueLog(t, log)
	for range 30 { // each returns to the record before it
		add(wire.Record{Kind: wire.KindRound,
			Round: &wire.Round{Round: 3, StepSize: 1, Terms: []wire.Term{{}}}})
		add(wire.Record{Kind: wire.KindRollback, To: p.N - 1})
	}
	log.reads = 0
	got, err := Replay(t.Context(), log, p.N, func([]byte) {})
	if err != nil || log.reads != 1 || got.Rounds != 2 || got.N != 63 {
		t.Errorf("n=%d rounds=%d after %d reads, %v, want 63, 2, 1 read", got.N, got.Rounds,
			log.reads, err)
	}
}
