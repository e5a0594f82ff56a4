// Package late keeps contributions that missed their record until a later record counts them, and
// knows which devices contributed to the closed records. The package has no clock.
package late

import (
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Work holds what the coordinator of an epoch knows about contributions to closed records.
//
// Invariants:
//  1. Past has rounds that this epoch closed and that are on the log's path, or whose record is
//     being appended.
//  2. Waiting has contributions that no record counts yet, and that the next record will count.
//     Joining has the late contributions of the record that is being appended.
type Work struct {
	Log              *runlog.Position
	Epoch            uint64
	Past             Past
	Waiting, Joining Batch
}

// Fresh says whether contributions to round number still count in the record that closes next.
func (l *Work) Fresh(number uint64) bool {
	next := l.Log.Rounds + 1
	if l.Past.Find(l.Log.N+1) != nil { // it is being appended
		next++
	}
	return next-number <= uint64(l.Log.Plan.Late)
}

// Join moves the contributions that waited into the record that the coordinator now makes.
func (l *Work) Join() { l.Joining, l.Waiting = l.Waiting, Batch{} }

// Moved notes the log's last record, r. Moved removes contributions that joined r, and forgets
// rounds that are not on the log's path or that another epoch closed. Moved also drops
// contributions that are too old or too large for the next record, so that the next record will
// count all that still wait.
func (l *Work) Moved(_ []byte, r wire.Record) {
	l.Joining = Batch{}
	onPath := func(uint64) bool { return true }
	switch {
	case r.Kind == wire.KindRollback:
		onPath = func(n uint64) bool { return n <= r.To }
	case r.Epoch != l.Epoch || r.Kind != wire.KindRound:
		onPath = func(n uint64) bool { return n != r.N }
	}
	keep := func(n, number uint64) bool {
		return onPath(n) && l.Log.Rounds+1-number <= uint64(l.Log.Plan.Late)
	}
	l.Past.Keep(keep)
	l.Waiting.Keep(func(n, number uint64, scalars int) bool {
		return keep(n, number) && scalars <= MostScalars(&l.Log.Plan)
	})
}

// MostScalars is the largest K*P for which a valid plan has room in its records.
func MostScalars(p *plan.Plan) int { return int(p.Steps) * int(p.MaxPerturbations()) }
