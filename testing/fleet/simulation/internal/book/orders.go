package book

import (
	"slices"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A command that was acknowledged stays done, whoever leads: a pause that an operator ended does
// not come back, a planned pause comes, an accepted loss pauses no run again, and a retired member
// stays out. An event names a record that the log has.

// orders are the commands that a coordinator acknowledged.
type orders struct {
	retired map[string]bool
	ever    map[string]bool // were retired, even if the log lost that since
	handed  string          // the reason that was handed to the log last
	pause   string          // the reason of the stored pause; "": none
	over    map[string]bool // reasons of the pauses that ended
	unknown bool            // what the log stores may be older
	after   uint64          // the round after which the run is to pause; 0: no pause is planned
	planned uint64          // the epoch whose coordinator acknowledged that
}

func newOrders() orders {
	return orders{retired: map[string]bool{}, ever: map[string]bool{}, over: map[string]bool{}}
}

// Retire notes that the log stored the retirement of a member.
func (b *Book) Retire(id string) { b.orders.retired[id], b.orders.ever[id] = true, true }

// EverRetired reports whether the log ever stored the retirement of a member.
func (b *Book) EverRetired(id string) bool { return b.orders.ever[id] }

// Unretire notes that the log lost a member, and with it that the member was retired.
func (b *Book) Unretire(id string) { delete(b.orders.retired, id) }

// Retired reports whether the log stored the retirement of a member.
func (b *Book) Retired(id string) bool { return b.orders.retired[id] }

// stillRetired checks that a log that a coordinator begins has the retired members.
func (b *Book) stillRetired(members, retired []string) {
	for id := range b.orders.retired {
		if slices.Contains(members, id) && !slices.Contains(retired, id) {
			b.world.Find("a retired member stays out", "the log forgot that %s was retired", id)
		}
	}
}

// staysOut checks that a coordinator does not admit a retired member.
func (b *Book) staysOut(p Process, id string, r *wire.JoinReply) {
	if b.orders.retired[id] && r.Status == wire.JoinOK && b.begun[b.epoch] == p {
		b.world.Find("a retired member stays out", "%v lets %s join", p, id)
	}
}

// Deciding notes that a coordinator hands decisions to the log. A crash may leave them stored.
func (b *Book) Deciding(d *runlog.Decisions) { b.orders.handed = reasonOf(d) }

// Recalled checks the decisions that a coordinator finds in the log.
func (b *Book) Recalled(d *runlog.Decisions) {
	reason := reasonOf(d)
	if !b.orders.unknown && reason != b.orders.pause && reason != b.orders.handed {
		b.world.Find("a pause lasts until a person ends it", "the log stored %q, and now has %q",
			b.orders.pause, reason)
	}
	b.orders.unknown = false
	b.Decided(d)
}

// reasonOf returns why a run is paused; "": it is not.
func reasonOf(d *runlog.Decisions) string {
	if d.Pause == nil {
		return ""
	}
	return d.Pause.Reason
}

// Decided checks decisions that the log stored.
func (b *Book) Decided(d *runlog.Decisions) {
	o, reason := &b.orders, reasonOf(d)
	if d.Pause != nil {
		if c := d.Pause.Claim; c != nil && slices.Contains(d.Accepted, *c) {
			b.world.Find("an accepted loss pauses no run again", "record %d is claimed again", c.N)
		}
	}
	if o.pause != "" && reason != o.pause {
		o.over[o.pause] = true
	}
	if o.pause = reason; o.over[reason] && d.Pause.Claim == nil && d.Pause.By != "" {
		b.world.Find("a pause that a person ended does not come back", "%q", reason)
	}
}

// Opened checks that the log stores no pause, because the coordinator has opened a round, and says
// that the log has what was decided.
func (b *Book) Opened() {
	if b.orders.pause != "" {
		b.world.Find("a pause that a person ended does not come back", "the run is open, and the log "+
			"still stores %q", b.orders.pause)
	}
}

// Undecided notes that the log lost its decisions, or that somebody set them back.
func (b *Book) Undecided() {
	retired, ever := b.orders.retired, b.orders.ever
	b.losses.paused, b.orders = 0, newOrders()
	b.orders.retired, b.orders.ever, b.orders.unknown = retired, ever, true
}

// Planned notes that the coordinator of an epoch acknowledged a pause after a round.
func (b *Book) Planned(after, epoch uint64) {
	if b.orders.after == 0 {
		b.world.Count("a planned pause is kept")
	}
	b.orders.after, b.orders.planned = after, epoch
}

// Unplanned notes that an operator replaces the planned pause, or ends it.
func (b *Book) Unplanned() { b.orders.after = 0 }

// obeys checks that a round does not follow a planned pause.
func (b *Book) obeys(r *wire.Record) {
	o := &b.orders
	if o.after > 0 && r.Kind == wire.KindRound && r.Round.Round > o.after && r.Epoch >= o.planned {
		b.world.Find("a planned pause comes", "record %d is round %d, and the run was to pause after %d",
			r.N, r.Round.Round, o.after)
	}
}

// Done checks that the log has the record that an event names.
func (b *Book) Done(p Process, n uint64, kind wire.RecordKind) {
	if n > uint64(len(b.chain)) || b.chain[n-1].record.Kind != kind {
		b.world.Find("nothing is told before it is committed",
			"%v says that record %d is a %v, and the log has %d records", p, n, kind, len(b.chain))
	}
}
