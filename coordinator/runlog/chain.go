package runlog

import (
	"fmt"

	"github.com/zofl/zofl/wire"
)

// A Chain is the end of a chain of records: the index and the hash of the last one. The zero value
// is the end of an empty chain.
type Chain struct {
	N    uint64
	Hash wire.Hash
}

// Follow decodes the next record, checks that it follows record l.N, and makes it the end of the
// chain. An error matches [ErrCorrupt], and leaves the chain as it was.
func (l *Chain) Follow(record []byte) (wire.Record, error) {
	r, err := wire.DecodeRecord(record)
	switch {
	case err != nil:
		return r, fmt.Errorf("record %d: %w: %w", l.N+1, ErrCorrupt, err)
	case r.N != l.N+1:
		return r, fmt.Errorf("record %d: %w: it says that it is record %d", l.N+1, ErrCorrupt, r.N)
	}
	prev := l.Hash
	if r.N == 1 {
		prev = wire.Genesis(r.Plan.Run)
	}
	if r.Prev != prev {
		return r, fmt.Errorf("record %d: %w: it does not follow record %d", r.N, ErrCorrupt, l.N)
	}
	l.N, l.Hash = r.N, wire.HashRecord(record)
	return r, nil
}

// Resume does what Follow does, for a caller that begins to read the chain at record first. Resume
// does not verify the hash of record first-1: it takes the hash that record first names.
func (l *Chain) Resume(record []byte, first uint64) error {
	if l.N == first-1 && first > 1 {
		r, err := wire.DecodeRecord(record)
		if err != nil {
			return fmt.Errorf("record %d: %w: %w", first, ErrCorrupt, err)
		}
		l.Hash = r.Prev
	}
	_, err := l.Follow(record)
	return err
}
