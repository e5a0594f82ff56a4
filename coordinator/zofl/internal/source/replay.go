package source

import (
	"bytes"
	"context"
	"fmt"
	"runtime"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// Replay returns the replica of the state after record at, or after the last
// record for 0. The chain is verified from record 1 on. each is called with
// every record that was read, and the replica where it has that record's state;
// nil where the record was rolled back later. cfg is what only its owner knows of the
// model; the run is the log's.
//
// A rollback returns to an earlier state, so the records are read twice: once
// for the rollbacks, and once to apply those that count.
func Replay(ctx context.Context, s Source, at uint64, cfg replica.Config, each func(n uint64, record []byte, r *replica.Replica) error) (*replica.Replica, error) {
	counts, err := course(ctx, s, at)
	if err != nil {
		return nil, err
	}
	var b batch
	var failed error
	err = s.Read(ctx, 1, func(n uint64, record []byte) bool {
		if n > uint64(len(counts)) {
			return false
		}
		if b.r == nil {
			b.r, failed = begin(record, cfg)
		}
		state := b.r
		switch {
		case failed != nil:
		case !counts[n-1]:
			if failed, state = b.apply(), nil; failed == nil {
				failed = b.r.Pass(record)
			}
		case each == nil:
			failed = b.add(record)
		default:
			failed = b.r.Apply(record)
		}
		if failed == nil && each != nil {
			failed = each(n, record, state)
		}
		return failed == nil
	})
	if failed == nil && err == nil {
		failed = b.apply()
	}
	r := b.r
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	case r == nil:
		return nil, ErrEmpty
	case r.N() != uint64(len(counts)):
		return nil, fmt.Errorf("the log ended at record %d, it had %d", r.N(), len(counts))
	}
	return r, nil
}

// begin returns the replica that record 1 is of.
func begin(record []byte, cfg replica.Config) (*replica.Replica, error) {
	first, err := wire.DecodeRecord(record)
	if err != nil {
		return nil, err
	}
	if first.Kind != wire.KindPlan {
		return nil, fmt.Errorf("record %d is a %v: the first one is a plan", first.N, first.Kind)
	}
	cfg.Run, cfg.Workers = first.Plan.Run, runtime.GOMAXPROCS(0)
	return replica.New(cfg), nil
}

// A batch is copies of records that are applied together: nobody wants to see
// the states between.
type batch struct {
	r       *replica.Replica
	records [][]byte
	size    int // bytes
}

// batchMost bounds the records of a batch, and batchWork the parameters times the
// bytes of records, about 4 a scalar: whoever interrupts a replay waits for it.
const (
	batchMost = 64
	batchWork = 2e9
)

func (b *batch) add(record []byte) error {
	if len(b.records) < cap(b.records) { // its memory again
		b.records = b.records[:len(b.records)+1]
		last := &b.records[len(b.records)-1]
		*last = append((*last)[:0], record...)
	} else {
		b.records = append(b.records, bytes.Clone(record))
	}
	b.size += len(record)
	if len(b.records) < batchMost && float64(b.size)*float64(len(b.r.Params())) < batchWork {
		return nil
	}
	return b.apply()
}

func (b *batch) apply() error {
	if len(b.records) == 0 {
		return nil
	}
	_, err := b.r.ApplyAll(b.records)
	b.records, b.size = b.records[:0], 0
	return err
}

// course says of each record up to at whether it counts for the state after
// the last of them, and checks the chain.
func course(ctx context.Context, s Source, at uint64) (counts []bool, err error) {
	var chain link
	var jumps []jump
	var failed error
	n := uint64(0)
	err = s.Read(ctx, 1, func(_ uint64, record []byte) bool {
		if at > 0 && n == at {
			return false
		}
		var r wire.Record
		if r, failed = chain.follow(record); failed == nil {
			n = r.N
			if r.Kind == wire.KindRollback {
				jumps = append(jumps, jump{r.N, r.To})
			}
		}
		return failed == nil
	})
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	case n == 0:
		return nil, ErrEmpty
	case n < at:
		return nil, fmt.Errorf("there is no record %d: the last one is %d", at, n)
	}
	return path(n, jumps), nil
}

// A jump is a rollback.
type jump struct{ n, to uint64 }

// path marks the records that count for the state after record n, from the
// last one back: a rollback jumps to the record that it returns to.
func path(n uint64, jumps []jump) []bool {
	counts := make([]bool, n)
	for last := len(jumps) - 1; n > 0; {
		for last >= 0 && jumps[last].n > n {
			last--
		}
		counts[n-1] = true
		if last >= 0 && jumps[last].n == n {
			n = jumps[last].to
		} else {
			n--
		}
	}
	return counts
}

// A link is the end of a chain of records.
type link struct {
	n    uint64
	hash wire.Hash
}

// ErrBroken: a record does not follow the one before it.
var ErrBroken = fmt.Errorf("the chain of records is broken")

// follow moves l to the next record.
func (l *link) follow(record []byte) (wire.Record, error) {
	r, err := wire.DecodeRecord(record)
	if err != nil {
		return r, fmt.Errorf("record %d: %w: %w", l.n+1, ErrBroken, err)
	}
	prev := l.hash
	if l.n == 0 && r.Kind == wire.KindPlan {
		prev = wire.Genesis(r.Plan.Run)
	}
	if r.N != l.n+1 || r.Prev != prev {
		return r, fmt.Errorf("record %d: %w: it does not follow record %d", r.N, ErrBroken, l.n)
	}
	l.n, l.hash = r.N, wire.HashRecord(record)
	return r, nil
}
