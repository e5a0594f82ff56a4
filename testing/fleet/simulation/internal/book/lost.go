package book

import (
	"github.com/zofl/zofl/wire"
)

// A record that a coordinator announced is in the log, or a person has accepted its loss. Until
// then a device that has it keeps it: it is the last copy. And a pause that the log keeps lasts
// until a person ends it, whoever leads.

// losses are the records that the log lost, and what persons decided.
type losses struct {
	cut      map[wire.Tip]int   // lost records, by the number of their loss
	undone   map[int]uint64     // the record to which a lost rollback returned, by that number
	happened int                // losses so far
	accepted int                // the last loss that a person accepted
	held     map[string]holding // what each device has, in this life
	paused   uint64             // the epoch that was paused, and keeps that; 0: none
}

// A holding is a device's state.
type holding struct {
	n   uint64
	tip wire.Tip
}

func newLosses() losses {
	return losses{cut: map[wire.Tip]int{}, undone: map[int]uint64{}, held: map[string]holding{}}
}

// lose notes that records are gone.
func (l *losses) lose(entries []entry) {
	l.happened++
	for _, e := range entries {
		l.cut[e.hash.Tip()] = l.happened
		if e.record.Kind == wire.KindRollback {
			l.undone[l.happened] = e.record.To
		}
	}
}

// Accept notes that a person accepts whatever was lost.
func (b *Book) Accept() {
	b.losses.accepted = b.losses.happened
	b.world.Count("a loss is accepted")
}

// Paused notes that a coordinator is paused and the log keeps that; epoch 0: a person ended it.
func (b *Book) Paused(epoch uint64) {
	if epoch > 0 && b.losses.paused == 0 {
		b.world.Count("a pause is kept")
	}
	b.losses.paused = epoch
}

// lasts checks that no round follows a pause.
func (b *Book) lasts(r *wire.Record) {
	if p := b.losses.paused; r.Kind == wire.KindRound && p > 0 && r.Epoch >= p {
		b.world.Find("a pause lasts until a person ends it",
			"record %d of epoch %d is a round, and epoch %d was paused", r.N, r.Epoch, p)
	}
}

// Keeps checks that a device does not let go of a record that the log lost, unless a person
// accepted that. A run that has ended waits for nobody.
func (b *Book) Keeps(name string, fresh bool, n uint64, digest [32]byte) {
	l, now := &b.losses, holding{n: n}
	was := l.held[name]
	// Two records may make one state: then it has the one that is there.
	for _, s := range b.states[n] {
		_, lost := l.cut[s.tip]
		switch {
		case s.digest != digest:
		case !fresh && was == (holding{n, s.tip}):
			return // nothing has changed
		case now.tip == (wire.Tip{}) || !lost:
			now.tip = s.tip
		}
	}
	if n == 0 || now.tip == (wire.Tip{}) {
		return
	}
	l.held[name] = now
	loss, lost := l.cut[was.tip]
	_, still := l.cut[now.tip]
	to, undone := l.undone[loss]
	if fresh || !lost || now == was || still && now.n > was.n || undone && to < was.n {
		return // a device may have heard of a rollback, and have begun to follow it
	}
	b.world.Count("a device lets go of lost records")
	if loss > l.accepted && !b.Ended() {
		b.world.Find("what was announced is in the log, or a person accepted its loss",
			"%s let go of record %d, which the log lost, and went to record %d", name, was.n, n)
	}
}
