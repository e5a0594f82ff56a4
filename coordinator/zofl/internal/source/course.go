package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A course is what a log says of its records, read once: which of them count for the
// state after the last one, and which vectors they name.
type course struct {
	counts  []bool
	vectors []runlog.ObjectName // of all rounds of a dense run, ascending by N
	kept    retained
	plan    wire.Plan // as the first record has it
	jumps   []jump
}

// A jump is a rollback.
type jump struct{ n, to uint64 }

// readCourse reads the records up to at, or all for 0, and checks the chain.
func readCourse(ctx context.Context, s Source, at uint64) (*course, error) {
	c := &course{}
	var end link
	var failed error
	err := s.Read(ctx, 1, func(_ uint64, record []byte) bool {
		if at > 0 && end.n == at {
			return false
		}
		var r wire.Record
		if r, failed = end.follow(record); failed == nil {
			c.note(&r)
		}
		return failed == nil
	})
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	case end.n == 0:
		return nil, ErrEmpty
	case end.n < at:
		return nil, fmt.Errorf("there is no record %d: the last one is %d", at, end.n)
	}
	c.counts = path(end.n, c.jumps)
	return c, nil
}

// note takes the next record.
func (c *course) note(r *wire.Record) {
	switch {
	case r.Kind == wire.KindPlan:
		c.plan = *r.Plan
		c.kept.keep(r.N, r.Plan)
	case r.Kind == wire.KindChange:
		c.kept.change(r.N, r.Change)
	case r.Kind == wire.KindRollback:
		c.kept.back(r.N, r.To, path(r.To, c.jumps))
		c.jumps = append(c.jumps, jump{r.N, r.To})
	case r.Kind == wire.KindRound && len(r.Round.Object) == wire.ObjectLen:
		name := runlog.ObjectName{N: r.N, Epoch: r.Epoch, Digest: [wire.ObjectLen]byte(r.Round.Object)}
		c.vectors = append(c.vectors, name)
		c.kept.add(name)
	}
}

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

// of returns the vector of record n.
func (c *course) of(n uint64) runlog.ObjectName {
	i, _ := slices.BinarySearchFunc(c.vectors, runlog.ObjectName{N: n}, byRecord)
	return c.vectors[i]
}

func byRecord(a, b runlog.ObjectName) int { return cmp.Compare(a.N, b.N) }

// needs returns the vectors that the state after the last record is made of: the last
// of each phase.
func (c *course) needs() (names []runlog.ObjectName) {
	for _, o := range slices.Backward(c.vectors) {
		if len(names) == c.plan.Phases() {
			break
		}
		if c.counts[o.N-1] {
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

// whole returns the records that count whose states can be made of vectors that are
// kept, and of none.
func (c *course) whole() (spans []Span) {
	var missing []bool // of the last vector of each phase
	vectors := c.vectors
	for i, counts := range c.counts {
		n := uint64(i) + 1
		for len(vectors) > 0 && vectors[0].N <= n {
			if counts {
				missing = append(missing, !c.kept.has(vectors[0]))
				missing = missing[max(0, len(missing)-c.plan.Phases()):]
			}
			vectors = vectors[1:]
		}
		last := len(spans) - 1
		switch {
		case !counts || slices.Contains(missing, true):
		case last >= 0 && spans[last].To == n-1:
			spans[last].To = n
		default:
			spans = append(spans, Span{n, n})
		}
	}
	return spans
}
