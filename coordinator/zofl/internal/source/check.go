package source

import (
	"context"

	"github.com/zofl/zofl/wire"
)

// A Chain is what a log comes to for whoever cannot replay it: the coordinator of a
// private run.
type Chain struct {
	Run              string
	N, Rounds, Epoch uint64 // of the last record; the last round that no rollback undid
	Hash             wire.Hash
	Ended            *wire.End
}

// Check verifies that every record up to at, or the last one for 0, follows the one
// before it. It applies none.
func Check(ctx context.Context, s Source, at uint64) (c Chain, err error) {
	course, err := readCourse(ctx, s, at)
	if err != nil {
		return c, err
	}
	var failed error
	var end link
	err = s.Read(ctx, 1, func(n uint64, record []byte) bool {
		if n > uint64(len(course.counts)) {
			return false
		}
		var r wire.Record
		if r, failed = end.follow(record); failed == nil {
			c.note(&r, course.counts[n-1])
		}
		return failed == nil
	})
	if failed != nil {
		err = failed
	}
	c.Hash = end.hash
	return c, err
}

// note takes a record, which counts unless it was rolled back.
func (c *Chain) note(r *wire.Record, counts bool) {
	c.N, c.Epoch, c.Ended = r.N, r.Epoch, r.End
	switch {
	case r.Kind == wire.KindPlan:
		c.Run = r.Plan.Run
	case r.Kind == wire.KindRound && counts && r.Round.Phase != 1:
		c.Rounds = r.Round.Round
	}
}
