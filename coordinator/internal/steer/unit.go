package steer

import (
	"math"

	"github.com/zofl/zofl/wire"
)

// A unit is what steps are measured by. A move is a m/sqrt(V), with V the running mean of the
// squares of a record's scalars. Along own directions these are the devices', along shared ones
// their means, which are smaller, and fall as the model learns. Where devices give their own
// directions up V falls by and by, and the moves would grow tenfold. But a was found for own
// directions, so from there on it is multiplied by
//
//	sqrt(V/W)     W: the running mean of the squares of the devices' own scalars
//
// which makes moves a m/sqrt(W). Along own directions W is V. Where devices never had their own
// there is no such factor.
type unit struct {
	records, devices float64 // V and W, but for a correction of bias, which cancels
	rounds           uint64
	factor           float64 // of the last round; 0 before the first that counts
	change           float64 // what the last round multiplied it by; 0: nothing
}

// known is how many rounds V and W take to be right where those before are not known, as to a
// coordinator that takes over.
const known = 200

// Measure takes the terms of a record, before its step is asked for. each is the mean square of the
// devices' scalars, 0 if the record has them; own says that devices have or had directions of their
// own.
func (l *Law) Measure(p *wire.Plan, round uint64, terms []wire.Term, each float64, own bool) {
	u := &l.unit
	u.change = 0
	record, _ := meanSquare(p, round, terms)
	if !(record > 0) {
		return // V stays, too
	}
	if each == 0 {
		each = record
	}
	keep := float64(p.ServerBeta2)
	u.records, u.devices = keep*u.records+(1-keep)*record, keep*u.devices+(1-keep)*each
	u.rounds++
	if !own || u.rounds < min(round, known) {
		return
	}
	factor := math.Sqrt(u.records / u.devices)
	if u.factor > 0 {
		u.change = factor / u.factor
	}
	u.factor = factor
}
