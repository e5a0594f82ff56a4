package coordinator

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/zofl/zofl/wire"
)

// continueLog replays a log of three records and returns its position, and a
// function that moves both by one record.
func continueLog(t *testing.T, log Log) (*position, func(wire.Record)) {
	t.Helper()
	p, err := replay(t.Context(), log, 3, func([]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	return &p, func(r wire.Record) {
		t.Helper()
		r.N, r.Prev, r.Epoch = p.n+1, p.hash, 5
		b := r.Append(nil)
		if _, err := p.follow(b); err != nil {
			t.Fatal(err)
		}
		appendAll(t, log, [][]byte{b})
	}
}

func TestReplayChangesAndRollbacks(t *testing.T) {
	log := &MemoryLog{}
	appendAll(t, log, chain(t, 3)) // rounds 1 and 2
	_, add := continueLog(t, log)
	const step = 18 // the field's number
	change := wire.Change{Fields: []uint64{step}, Values: wire.Plan{Step: 9}}
	add(wire.Record{Kind: wire.KindChange, Change: &change})
	add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: 3, Step: 9, Terms: []wire.Term{{}}}})
	add(wire.Record{Kind: wire.KindRollback, To: 2})
	add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: 2, Step: 1, Terms: []wire.Term{{}}}})
	for _, test := range []struct {
		last, rounds uint64
		step         float32
	}{{3, 2, 0.001}, {4, 2, 9}, {5, 3, 9}, {6, 1, 0.001}, {7, 2, 0.001}} {
		got, err := replay(t.Context(), log, test.last, func([]byte) {})
		if err != nil || got.rounds != test.rounds || got.plan.Step != test.step || got.n != test.last {
			t.Errorf("after record %d: n=%d rounds=%d step=%v, %v, want rounds=%d step=%v",
				test.last, got.n, got.rounds, got.plan.Step, err, test.rounds, test.step)
		}
	}
	if _, err := replay(t.Context(), log, 8, func([]byte) {}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("replay of a record that is missing: %v, want ErrCorrupt", err)
	}
}

// TestHistory compares what rollbacks return to, and which rounds are left, with
// an account of every record.
func TestHistory(t *testing.T) {
	for _, control := range []string{"none", "scaffold-1", "scaffold-2"} {
		t.Run(control, func(t *testing.T) {
			p := testPlan(t)
			if err := p.Set("control", control); err != nil {
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

// A historian makes a log at random, and notes what it was after each record.
type historian struct {
	t             *testing.T
	rng           *rand.Rand
	p             position
	perturbations uint32
	after         []moment // record n at n-1
}

type moment struct {
	rounds uint64
	point  point
	mu     float32
	path   map[uint64]uint32 // P of the rounds that are left
}

func (h *historian) add(r wire.Record) {
	h.t.Helper()
	if r.N, r.Epoch, r.Prev = h.p.n+1, 1, h.p.hash; r.N == 1 {
		r.Prev = wire.Genesis("r")
	}
	if _, err := h.p.apply(r.Append(nil)); err != nil {
		h.t.Fatal(err)
	}
	m := moment{h.p.rounds, h.p.point, h.p.plan.Mu, map[uint64]uint32{}}
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
		change := &wire.Change{}
		if err := change.Set("mu", strconv.Itoa(1+h.rng.IntN(1000))); err != nil {
			h.t.Fatal(err)
		}
		h.add(wire.Record{Kind: wire.KindChange, Change: change})
	case 1:
		to := 1 + h.rng.Uint64N(h.p.n)
		h.add(wire.Record{Kind: wire.KindRollback, To: to})
		if got, want := h.after[h.p.n-1], h.after[to-1]; got.rounds != want.rounds || got.point != want.point || got.mu != want.mu {
			h.t.Fatalf("record %d, to %d: %+v, want %+v", h.p.n, to, got, want)
		}
	case 2:
		h.perturbations++ // another P
		fallthrough
	default:
		round := wire.Round{Phase: h.p.due(), Round: h.p.rounds + 1, Perturbations: 1 + h.perturbations%3, Step: 1, Terms: []wire.Term{{}}}
		h.add(wire.Record{Kind: wire.KindRound, Round: &round})
	}
}

func (h *historian) check() {
	for i, want := range h.after {
		n := uint64(i) + 1
		if plan, rounds, point := h.p.history.at(n); rounds != want.rounds || plan.Mu != want.mu || point != want.point {
			h.t.Fatalf("after record %d: round %d, mu %v, %+v, want %+v", n, rounds, plan.Mu, point, want)
		}
		for m := range n + 3 {
			perturbations, ok := want.path[m]
			if got, round := h.p.history.round(m, n); round != ok || ok && got != perturbations {
				h.t.Fatalf("after record %d: record %d is a round: %v, P = %d; want %v, %d", n, m, round, got, ok, perturbations)
			}
		}
	}
}

// TestPhasesTakeTurns: a log whose phases do not is corrupt.
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
		plan := testPlan(t)
		if err := plan.Set("control", test.control); err != nil {
			t.Fatal(err)
		}
		var p position
		_, err := p.apply((&wire.Record{N: 1, Prev: wire.Genesis("r"), Epoch: 1, Kind: wire.KindPlan, Plan: plan}).Append(nil))
		for i, phase := range test.phases {
			if err != nil {
				t.Fatalf("%s, phases %d: %v before the last", test.control, test.phases, err)
			}
			before := p.n
			r := wire.Record{N: p.n + 1, Prev: p.hash, Epoch: 1, Kind: wire.KindRound,
				Round: &wire.Round{Round: p.rounds + 1, Phase: phase, Step: 1, Terms: []wire.Term{{}}}}
			if _, err = p.apply(r.Append(nil)); err != nil && (p.n != before || i < len(test.phases)-1) {
				t.Errorf("%s, phases %d: the position is after record %d: %v", test.control, test.phases, p.n, err)
			}
		}
		if errors.Is(err, ErrCorrupt) != test.fails || err != nil && !test.fails {
			t.Errorf("%s, phases %d: %v, want corrupt: %v", test.control, test.phases, err, test.fails)
		}
	}
}

func TestNothingFollowsAnEnd(t *testing.T) {
	log := &MemoryLog{}
	appendAll(t, log, chain(t, 3))
	p, add := continueLog(t, log)
	add(wire.Record{Kind: wire.KindEnd, End: &wire.End{Reason: wire.EndRequested}})
	add(wire.Record{Kind: wire.KindRollback, To: 1})
	if _, err := replay(t.Context(), log, p.n, func([]byte) {}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a log that goes on after its end: %v, want ErrCorrupt", err)
	}
}

func TestYieldOfRoundsThatCloseEarly(t *testing.T) {
	y := yield{population: 40_000}
	for range 20 {
		y.begin(y.ask(150, 0))
		y.answers, y.early = 100, true // the target; nobody is late
	}
	if y.population != 40_000 {
		t.Errorf("the estimate is %d, want 40000: nothing spoke against it", y.population)
	}
}

func TestYieldSettles(t *testing.T) {
	const want, devices = 150, 40_000
	for _, population := range []uint64{1, 1000, 40_000, 5_000_000} {
		y := yield{population: population}
		asked := uint64(0)
		for range 60 {
			y.begin(y.ask(want, 0))
			asked = y.threshold * devices >> 32
			y.answers, y.early = asked, asked > want
		}
		if asked < want*9/10 || asked > want*11/10 {
			t.Errorf("from an estimate of %d: %d of %d devices are asked, want about %d",
				population, asked, devices, want)
		}
	}
}

// A countedLog fails when it is read too often.
type countedLog struct {
	MemoryLog
	reads int
}

func (l *countedLog) Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error {
	if l.reads++; l.reads > 1000 {
		return errors.New("too many reads")
	}
	return l.MemoryLog.Read(ctx, from, f)
}

func TestReplayReadsTheLogOnce(t *testing.T) {
	log := &countedLog{}
	appendAll(t, log, chain(t, 3)) // rounds 1 and 2
	p, add := continueLog(t, log)
	for range 30 { // each to the one before
		add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: 3, Step: 1, Terms: []wire.Term{{}}}})
		add(wire.Record{Kind: wire.KindRollback, To: p.n - 1})
	}
	log.reads = 0
	got, err := replay(t.Context(), log, p.n, func([]byte) {})
	if err != nil || log.reads != 1 || got.rounds != 2 || got.n != 63 {
		t.Errorf("n=%d rounds=%d after %d reads, %v, want 63, 2, 1 read", got.n, got.rounds, log.reads, err)
	}
}
