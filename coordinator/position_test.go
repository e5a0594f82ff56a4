package coordinator

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/wire"
)

// continueLog replays a log of three records and returns its position, and a
// function that moves both by one record.
func continueLog(t *testing.T, log Log) (*position, func(wire.Record)) {
	t.Helper()
	p, err := replay(log, 3, func([]byte) {})
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
		got, err := replay(log, test.last, func([]byte) {})
		if err != nil || got.rounds != test.rounds || got.plan.Step != test.step || got.n != test.last {
			t.Errorf("after record %d: n=%d rounds=%d step=%v, %v, want rounds=%d step=%v",
				test.last, got.n, got.rounds, got.plan.Step, err, test.rounds, test.step)
		}
	}
	if _, err := replay(log, 8, func([]byte) {}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("replay of a record that is missing: %v, want ErrCorrupt", err)
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

func (l *countedLog) Read(from uint64, f func(n uint64, record []byte) bool) error {
	if l.reads++; l.reads > 1000 {
		return errors.New("too many reads")
	}
	return l.MemoryLog.Read(from, f)
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
	got, err := replay(log, p.n, func([]byte) {})
	if err != nil || log.reads != 1 || got.rounds != 2 || got.n != 63 {
		t.Errorf("n=%d rounds=%d after %d reads, %v, want 63, 2, 1 read", got.n, got.rounds, log.reads, err)
	}
}
