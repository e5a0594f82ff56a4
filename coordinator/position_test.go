package coordinator

import (
	"context"
	"errors"
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

// TestHistory compares what rollbacks return to with an account of every record.
func TestHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var p position
	type moment struct {
		rounds uint64
		mu     float32
	}
	var after []moment
	add := func(r wire.Record) {
		t.Helper()
		if r.N, r.Epoch, r.Prev = p.n+1, 1, p.hash; r.N == 1 {
			r.Prev = wire.Genesis("r")
		}
		if _, err := p.apply(r.Append(nil)); err != nil {
			t.Fatal(err)
		}
		after = append(after, moment{p.rounds, p.plan.Mu})
	}
	add(wire.Record{Kind: wire.KindPlan, Plan: testPlan(t)})
	for range 2000 {
		switch k := rng.IntN(50); k {
		case 0:
			change := &wire.Change{}
			if err := change.Set("mu", strconv.Itoa(1+rng.IntN(1000))); err != nil {
				t.Fatal(err)
			}
			add(wire.Record{Kind: wire.KindChange, Change: change})
		case 1:
			to := 1 + rng.Uint64N(p.n)
			add(wire.Record{Kind: wire.KindRollback, To: to})
			if after[p.n-1] != after[to-1] {
				t.Fatalf("record %d, to %d: %+v, want %+v", p.n, to, after[p.n-1], after[to-1])
			}
		default:
			add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: p.rounds + 1, Step: 1, Terms: []wire.Term{{}}}})
		}
	}
	for n, want := range after {
		if plan, rounds, _ := p.history.at(uint64(n) + 1); rounds != want.rounds || plan.Mu != want.mu {
			t.Fatalf("after record %d: round %d, mu %v, want %+v", n+1, rounds, plan.Mu, want)
		}
	}
	if got := len(p.history.stretches); got > 200 {
		t.Errorf("%d stretches for about 80 changes and rollbacks", got)
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
