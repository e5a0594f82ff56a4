package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A course is the result of one pass over a log's records: the coordinator's position after the
// last record, which records no rollback undid, and the vectors that records name.
type course struct {
	runlog.Position
	path    []bool              // entry n-1: no rollback undid record n
	vectors []runlog.ObjectName // of all rounds, ascending by N; empty unless transport=dense
}

// readCourse reads the records up to at, or all of them if at is 0, and checks the chain. The error
// matches [runlog.ErrCorrupt] if a record does not follow the record before it, and [ErrEmpty] if
// the log has no record.
func readCourse(ctx context.Context, s Source, at uint64) (*course, error) {
	c := &course{}
	var failed error
	if base, _ := s.Base(); base != nil {
		if c.Position, failed = base.Position(); failed != nil {
			return nil, failed
		}
		if at > 0 && at < base.N {
			return nil, fmt.Errorf("record %d: %w, after record %d", at, runlog.ErrBelow, base.N)
		}
	}
	err := s.Read(ctx, c.N+1, func(_ uint64, record []byte) bool {
		if at > 0 && c.N == at {
			return false
		}
		var r wire.Record
		if r, failed = c.Apply(record); failed == nil {
			c.note(&r)
		}
		return failed == nil
	})
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	case c.N == 0:
		return nil, ErrEmpty
	case c.N < at:
		return nil, fmt.Errorf("%w %d: the last one is %d", ErrNoRecord, at, c.N)
	}
	c.path = c.Path()
	return c, nil
}

// note appends the vector that a record names to vectors.
func (c *course) note(r *wire.Record) {
	if r.Kind == wire.KindRound && len(r.Round.Object) == wire.ObjectLen {
		c.vectors = append(c.vectors, runlog.ObjectName{
			N: r.N, Epoch: r.Epoch, Digest: [wire.ObjectLen]byte(r.Round.Object),
		})
	}
}

// vectorOf returns the name of record n's vector.
func (c *course) vectorOf(n uint64) runlog.ObjectName {
	i, _ := slices.BinarySearchFunc(c.vectors, n,
		func(o runlog.ObjectName, n uint64) int { return cmp.Compare(o.N, n) })
	return c.vectors[i]
}

// kept says whether the plan's dense_keep obliges the log to still have a vector.
func (c *course) kept(name runlog.ObjectName) bool { return slices.Contains(c.Vectors(), name) }

// needs returns the vectors that make the state after the last record: the last vector of each
// phase.
func (c *course) needs() (names []runlog.ObjectName) {
	for _, o := range slices.Backward(c.vectors) {
		if len(names) == c.Plan.Phases() {
			break
		}
		if c.path[o.N-1] {
			names = append(names, o)
		}
	}
	return names
}

// A Span is records From, From+1, ..., To.
type Span struct{ From, To uint64 }

func (s Span) String() string {
	if s.From == s.To {
		return fmt.Sprint(s.From)
	}
	return fmt.Sprintf("%d-%d", s.From, s.To)
}

// whole returns the records whose states can be computed from the vectors that the log still has.
// It considers only records that no rollback undid.
func (c *course) whole() (spans []Span) {
	for i, counts := range c.path {
		n, last := uint64(i)+1, len(spans)-1
		switch {
		case !counts || c.Lacks(n) > 0:
		case last >= 0 && spans[last].To == n-1:
			spans[last].To = n
		default:
			spans = append(spans, Span{n, n})
		}
	}
	return spans
}
