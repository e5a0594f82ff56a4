package kernelbench

import (
	"fmt"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// replayRecords is the number of records that a replica applies together.
const replayRecords = 64

// runName is the name of the run whose log replay makes.
const runName = "bench"

// replay measures how fast replicas apply the records of a log, one on a single core and one on all
// cores. Their results must be bit-identical.
func replay(s *stage, r *Result, dim int) error {
	log, err := newLog(dim)
	if err != nil {
		return err
	}
	one, all := replica.New(config(1)), replica.New(config(r.Workers))
	for _, state := range []*replica.Replica{one, all} {
		if err := apply(state, log.first); err != nil { // warm-up, not measured
			return err
		}
	}
	var records [][]byte
	elements := float64(dim * replayRecords)
	speeds, err := s.interleave(func() { records = log.rounds(replayRecords) },
		task{elements, func() error { return apply(one, records) }},
		task{elements, func() error { return apply(all, records) }})
	if err != nil {
		return err
	}
	if err := sameBits(one, all); err != nil {
		return err
	}
	r.Replay1, r.ReplayN, r.ReplaySpeedup = speeds.speed(0), speeds.speed(1), speeds.ratio(1, 0)
	r.ReplayDim, r.ReplayRecords = dim, replayRecords
	r.ReplayShare = r.Replay1 * elementTraffic / r.Bandwidth
	r.ReplayShareN = r.ReplayN * elementTraffic / r.BandwidthN
	return nil
}

func sameBits(one, all *replica.Replica) error {
	want, got := one.Digest(), all.Digest()
	if got != want {
		return fmt.Errorf("%w: replay of %d records on all cores came to digest %x, on one to %x",
			ErrBits, one.N(), got, want)
	}
	return nil
}

func config(workers int) replica.Config { return replica.Config{Run: runName, Workers: workers} }

func apply(state *replica.Replica, records [][]byte) error {
	_, err := state.ApplyAll(records)
	return err
}

// A log makes the records of a run. Each round has one direction with normal elements.
type log struct {
	first [][]byte // the plan, and a round
	n     uint64
	prev  wire.Hash
	step  float32
}

func newLog(dim int) (*log, error) {
	plan, err := preset.Unbound("decomfl", runName, uint64(dim))
	if err != nil {
		return nil, err
	}
	plan.Perturbations = 1
	l := &log{prev: wire.Genesis(runName), step: plan.StepSize}
	l.first = append(l.first, l.add(wire.Record{Kind: wire.KindPlan, Plan: plan}))
	l.first = append(l.first, l.rounds(1)...)
	return l, nil
}

// add encodes the next record.
func (l *log) add(r wire.Record) []byte {
	l.n++
	r.N, r.Prev, r.Epoch = l.n, l.prev, 1
	text := r.Append(nil)
	l.prev = wire.HashRecord(text)
	return text
}

// rounds encodes the next count records. Each record is a round with one scalar.
func (l *log) rounds(count int) [][]byte {
	var records [][]byte
	for range count {
		scalars := wire.AppendScalars(nil, 0.5)
		records = append(records, l.add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{
			Round: l.n, StepSize: l.step, Perturbations: 1, Contributors: 1,
			Terms: []wire.Term{{Scalars: scalars}},
		}}))
	}
	return records
}
