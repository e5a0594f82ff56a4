package source

import (
	"fmt"

	"github.com/zofl/zofl/wire"
)

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
