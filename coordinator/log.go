package coordinator

import (
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// A Log stores the records of one run, and the ids of its members. Read and
// Last may be called from any goroutine, the others from one at a time.
type Log interface {
	// Append stores record n, which must be Last()+1. When it returns nil,
	// the record survives a crash. After an error it is unknown whether the
	// record is stored; the caller appends the same bytes again.
	Append(n uint64, record []byte) error

	// Last returns the index of the last record, 0 for an empty log.
	Last() uint64

	// Read calls f with records from, from+1, ... until f returns false or
	// the log ends. f must not keep or change the record.
	Read(from uint64, f func(n uint64, record []byte) bool) error

	// AddMembers gives ids the next slots, in order. When it returns nil, they
	// survive a crash; after an error, none of them may be used.
	AddMembers(ids []string) error

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
)

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
