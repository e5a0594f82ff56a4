package gather

import (
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// LateWork is what a coordinator knows about contributions to closed records.
//
// Invariants:
//  1. Past has rounds that this epoch closed, on the log's path, or whose record is being appended.
//  2. Waiting has contributions that no record counts yet, and that the next one will count;
//     Joining has those of the record that is being appended.
type LateWork struct {
	Past             Past
	Waiting, Joining Late
}

// Fresh says whether contributions to round number still count in the record that closes next. n
// is the log's last record, of round rounds.
func (l *LateWork) Fresh(p *plan.Plan, number, n, rounds uint64) bool {
	next := rounds + 1
	if l.Past.Find(n+1) != nil { // it is being appended
		next++
	}
	return next-number <= uint64(p.Late)
}

// Join moves the contributions that waited into the record that is being made.
func (l *LateWork) Join() { l.Joining, l.Waiting = l.Waiting, Late{} }

// Moved follows the log of a coordinator with an epoch; r is its last record, of round rounds. It
// removes contributions that joined that record. It forgets rounds that are not on the path or that
// another epoch closed. It drops contributions that are too old or too large for the next record,
// so that all that still wait will be counted.
func (l *LateWork) Moved(p *plan.Plan, r *wire.Record, epoch, rounds uint64) {
	l.Joining = Late{}
	onPath := func(uint64) bool { return true }
	switch {
	case r.Kind == wire.KindRollback:
		onPath = func(n uint64) bool { return n <= r.To }
	case r.Epoch != epoch || r.Kind != wire.KindRound:
		onPath = func(n uint64) bool { return n != r.N }
	}
	keep := func(n, number uint64) bool {
		return onPath(n) && rounds+1-number <= uint64(p.Late)
	}
	l.Past.Keep(keep)
	l.Waiting.Keep(func(n, number uint64, scalars int) bool {
		return keep(n, number) && scalars <= MostScalars(p)
	})
}

// MostScalars is the K*P for which a valid plan has room in its records.
func MostScalars(p *plan.Plan) int { return int(p.Steps) * int(p.MaxPerturbations()) }
