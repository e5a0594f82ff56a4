package book

import (
	"github.com/zofl/zofl/wire"
)

// The log has every record that a coordinator announced, or a person has accepted the loss of the
// record. Until then a device that has a lost record keeps the record, because the device has the
// last copy. If the log stores a pause, the pause lasts until a person ends it, whichever
// coordinator leads.

// losses are the records that the log lost, and the decisions of persons about them.
type losses struct {
	cut      map[wire.Tip]int   // lost records, by the number of their loss
	undone   map[int]uint64     // the record to which a lost rollback returned, by that number
	happened int                // losses so far
	accepted int                // the last loss that a person accepted
	held     map[string]holding // what each device has, in this life
	paused   uint64             // the epoch of a pause that the log stores; 0: none
}

// A holding is a device's state.
type holding struct {
	n   uint64
	tip wire.Tip
}

func newLosses() losses {
	return losses{cut: map[wire.Tip]int{}, undone: map[int]uint64{}, held: map[string]holding{}}
}

// lose notes that the log lost records.
func (l *losses) lose(entries []entry) {
	l.happened++
	for _, e := range entries {
		l.cut[e.hash.Tip()] = l.happened
		if e.record.Kind == wire.KindRollback {
			l.undone[l.happened] = e.record.To
		}
	}
}

// Accept notes that a person accepts all losses so far.
func (b *Book) Accept() {
	b.losses.accepted = b.losses.happened
	b.world.Count("a loss is accepted")
}

// Paused notes that the coordinator of an epoch paused the run and that the log stores the pause.
// Epoch 0 says that a person ended the pause.
func (b *Book) Paused(epoch uint64) {
	if epoch > 0 && b.losses.paused == 0 {
		b.world.Count("a pause is kept")
	}
	b.losses.paused = epoch
}

// lasts checks that no round follows a pause that nobody has ended.
func (b *Book) lasts(r *wire.Record) {
	if p := b.losses.paused; r.Kind == wire.KindRound && p > 0 && r.Epoch >= p {
		b.world.Find("a pause lasts until a person ends it",
			"record %d of epoch %d is a round, and epoch %d was paused", r.N, r.Epoch, p)
	}
}

// Keeps checks that a device does not give up a record that the log lost, unless a person accepted
// the loss. After the end of the run a device may give up any record.
func (b *Book) Keeps(name string, fresh bool, n uint64, digest [32]byte) {
	l, now := &b.losses, holding{n: n}
	was := l.held[name]
	// If two records make one state, the device has the record that the log has.
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
		return // a device may have heard of a rollback, and may have begun to follow the rollback
	}
	b.world.Count("a device lets go of lost records")
	if loss > l.accepted && !b.Ended() {
		b.world.Find("what was announced is in the log, or a person accepted its loss",
			"%s let go of record %d, which the log lost, and went to record %d", name, was.n, n)
	}
}
