package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// A Log stores the records of one run, and the ids of its members. Last, Read
// and Lost may be called from any goroutine, the others from one at a time.
type Log interface {
	// Begin makes the caller the log's coordinator and returns its epoch:
	// larger than that of any Begin before, and than the last record's. Where
	// coordinators share a log, it waits until no other one leads, or ctx ends.
	// After it Last, Read and Members show all that is stored.
	Begin(ctx context.Context) (epoch uint64, err error)

	// Lost is closed when another coordinator may lead from now on; it is nil
	// where none can. Each Begin makes a new one.
	Lost() <-chan struct{}

	// Append stores record n, which must be Last()+1. When it returns nil,
	// the record survives a crash. A [*ConflictError] says that another record
	// has the index n. After any other error it is unknown whether the record
	// is stored; the caller appends the same bytes again, unless it matches
	// [ErrCorrupt] or [ErrPlan], which repetition does not mend.
	Append(ctx context.Context, n uint64, record []byte) error

	// Last returns the index of the last record, 0 for an empty log.
	Last() uint64

	// Read calls f with records from, from+1, ... until f returns false or the
	// log ends, or ctx: then it returns the cause. f must not keep or change the
	// record.
	Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error

	// AddMembers gives ids the next slots, in order. When it returns nil, they
	// survive a crash; after an error, none of them may be used. The error
	// matches [ErrDeposed] if another coordinator has given these slots away.
	AddMembers(ctx context.Context, ids []string) error

	// Members returns the ids by slot.
	Members() ([]string, error)

	// Close releases the log; no other call may follow.
	Close() error
}

// Errors of a Log.
var (
	// ErrLocked: another coordinator has the log open.
	ErrLocked = errors.New("in use by another coordinator")
	// ErrCorrupt: stored bytes are not what was written. Restore the log from
	// a copy: devices hold records that it should hold.
	ErrCorrupt = errors.New("corrupt")
	// ErrOrder: an append that is not the next record.
	ErrOrder = errors.New("not the next record")
	// ErrDeposed: another coordinator leads the run now. Call [New] again with
	// the same log to stand by, and to go on when the other one stops.
	ErrDeposed = errors.New("another coordinator leads")
)

// A ConflictError says that the log holds another record N than the one that
// was to be appended. Record N and all before it can be read from the log.
type ConflictError struct {
	N      uint64
	Record []byte // what the log holds
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("log: record %d is another one already", e.N)
}

// Is says that the record was not the log's next one: [ErrOrder].
func (e *ConflictError) Is(target error) bool { return target == ErrOrder }

// A link is the end of a chain of records.
type link struct {
	n    uint64
	hash wire.Hash
}

// follow reads the record that must come next and moves l to it.
func (l *link) follow(record []byte) (wire.Record, error) {
	r, err := wire.DecodeRecord(record)
	switch {
	case err != nil:
		return r, fmt.Errorf("record %d: %w: %w", l.n+1, ErrCorrupt, err)
	case r.N != l.n+1:
		return r, fmt.Errorf("record %d: %w: it says that it is record %d", l.n+1, ErrCorrupt, r.N)
	}
	prev := l.hash
	if r.N == 1 {
		prev = wire.Genesis(r.Plan.Run)
	}
	if r.Prev != prev {
		return r, fmt.Errorf("record %d: %w: it does not follow record %d", r.N, ErrCorrupt, l.n)
	}
	l.n, l.hash = r.N, wire.HashRecord(record)
	return r, nil
}
