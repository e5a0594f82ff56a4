package source

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// Replay returns the replica of the state after record at, or after the last
// record for 0. The chain is verified from record 1 on. each is called with
// every record that was read, and the replica where it has that record's state;
// nil where the record was rolled back later.
//
// A rollback returns to an earlier state, so the records are read twice: once
// for the rollbacks, and once to apply those that count.
func Replay(ctx context.Context, s Source, at uint64, initial []float32, each func(n uint64, record []byte, r *replica.Replica) error) (*replica.Replica, error) {
	counts, err := course(ctx, s, at)
	if err != nil {
		return nil, err
	}
	var r *replica.Replica
	var failed error
	err = s.Read(ctx, 1, func(n uint64, record []byte) bool {
		if n > uint64(len(counts)) {
			return false
		}
		if r == nil {
			r, failed = begin(record, initial)
		}
		state := r
		switch {
		case failed != nil:
		case counts[n-1]:
			failed = r.Apply(record)
		default:
			failed, state = r.Pass(record), nil
		}
		if failed == nil && each != nil {
			failed = each(n, record, state)
		}
		return failed == nil
	})
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	case r.N() != uint64(len(counts)):
		return nil, fmt.Errorf("the log ended at record %d, it had %d", r.N(), len(counts))
	}
	return r, nil
}

// begin returns the replica that record 1 is of.
func begin(record []byte, initial []float32) (*replica.Replica, error) {
	first, err := wire.DecodeRecord(record)
	if err != nil {
		return nil, err
	}
	if first.Kind != wire.KindPlan {
		return nil, fmt.Errorf("record %d is a %v: the first one is a plan", first.N, first.Kind)
	}
	return replica.New(replica.Config{Run: first.Plan.Run, Initial: initial}), nil
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
