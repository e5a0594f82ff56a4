package book

import (
	"bytes"
	"slices"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/frame"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// Sent checks a message before the network carries the message.
func (b *Book) Sent(p Process, kind frame.Kind, id string, data []byte) {
	switch kind {
	case frame.Announcing:
		b.announced(p, data)
	case frame.Welcoming:
		b.welcomed(p, id, data)
	case frame.Telling:
		b.told(p, data)
	case frame.Replying:
		b.replied(p, id, data)
	case frame.Handing:
		b.world.Count("snapshot piece")
	case frame.Bringing:
		b.brought(p, data)
	case frame.Taking:
		if r, err := wire.DecodeUploadReply(data); err == nil {
			b.world.Count("upload " + r.State.String())
		}
	}
}

// named checks that the log contains record n at this moment.
func (b *Book) named(p Process, what string, n uint64) {
	if n > uint64(len(b.chain)) {
		b.world.Find("nothing is told before it is committed", "%v: %s names record %d, the log has %d",
			p, what, n, len(b.chain))
	}
}

// carried checks that records from n on are the records of the log.
func (b *Book) carried(p Process, what string, n uint64, records wire.Records) {
	records.Each(func(record []byte) bool {
		if b.named(p, what, n); n <= uint64(len(b.chain)) && !bytes.Equal(b.chain[n-1].bytes, record) {
			b.world.Find("nothing is told before it is committed",
				"%v: %s has another record %d than the log", p, what, n)
		}
		n++
		return true
	})
}

// unpack writes the record of a short announcement back into the announcement.
func (b *Book) unpack(p Process, a *compact.Announcement) {
	if !a.Compact() || a.N-2 > uint64(len(b.chain)) {
		return
	}
	record, err := a.Record(b.chain[a.N-3].hash)
	if err != nil {
		b.world.Find("frames decode", "%v: the record of a short announcement of %d: %v", p, a.N, err)
		return
	}
	a.Records.Add(record)
	b.world.Count("announce lean")
}

func (b *Book) announced(p Process, frame []byte) {
	a, err := compact.Decode(frame)
	if err != nil {
		b.world.Find("frames decode", "%v: announcement: %v", p, err)
		return
	}
	b.named(p, "an announcement", a.N-1)
	b.unpack(p, &a)
	b.carried(p, "an announcement", a.N-uint64(a.Records.Len()), a.Records)
	if b.begun[a.Epoch] != p {
		b.world.Find("epochs ascend", "%v announces in epoch %d, which is not its own", p, a.Epoch)
	}
	b.world.Count("announce " + a.State.String())
	if r, ok := a.Reference(); ok {
		b.referred(p, r)
	}
}

// referred checks a reference digest. At most one device has a wrong state.
func (b *Book) referred(p Process, r wire.Reference) {
	b.world.Count("reference")
	if !slices.ContainsFunc(b.states[r.N], func(s state) bool {
		return s.tip == r.Tip && [8]byte(s.digest[:8]) == r.Digest
	}) {
		b.world.Find("references are true",
			"%v: the reference for record %d is of no state that the run had", p, r.N)
	}
}

func (b *Book) welcomed(p Process, id string, frame []byte) {
	r, err := wire.DecodeJoinReply(frame)
	if err != nil {
		b.world.Find("frames decode", "%v: join reply: %v", p, err)
		return
	}
	b.named(p, "a join reply", r.Last)
	b.staysOut(p, id, &r)
	if r.Status == wire.JoinOK && (len(b.chain) == 0 || !bytes.Equal(r.Plan, b.chain[0].bytes)) {
		b.world.Find("nothing is told before it is committed",
			"%v: a join reply has another plan than the log", p)
	}
	if len(r.Announcement) > 0 {
		b.announced(p, r.Announcement)
	}
}

func (b *Book) told(p Process, frame []byte) {
	r, err := wire.DecodeCatchUpReply(frame)
	if err != nil {
		b.world.Find("frames decode", "%v: catch-up reply: %v", p, err)
		return
	}
	b.named(p, "a catch-up reply", r.Last)
	b.carried(p, "a catch-up reply", r.From, r.Records)
	b.world.Count("catch-up")
}

// replied checks that a device's reply belongs to a state of some log, and that the device repeats
// the reply with the same bytes until the device sends another reply.
func (b *Book) replied(p Process, id string, frame []byte) {
	r, err := wire.DecodeReply(frame)
	if err != nil {
		b.world.Find("frames decode", "%v: reply: %v", p, err)
		return
	}
	b.world.Count("reply " + r.Kind.String())
	of := r.N
	if r.Kind == wire.Contribution || r.Kind == wire.Decline {
		of--
	}
	b.follows(p, of, r.Tip)
	a := answer{id, r.N, r.Tip, groupOf(b.scenario.Plan, &r, id)}
	stands, had := b.standing[id]
	switch {
	case r.Kind == wire.Decline && had && (stands.n != a.n || stands.tip != a.tip):
		delete(b.standing, id) // this reply replaces the reply that the device sent before
	case r.Kind == wire.Contribution:
		b.answersSurvey(a, &r)
		b.contributed(p, a, frame)
	}
}

// follows checks that a reply belongs to a state of some log.
func (b *Book) follows(p Process, n uint64, tip wire.Tip) {
	if !slices.Contains(b.tips[n], tip) {
		b.world.Find("devices follow a log", "%v: a reply about record %d of no log", p, n)
	}
}

// contributed checks that a contribution equals the contribution that the device sent before.
func (b *Book) contributed(p Process, a answer, frame []byte) {
	b.follows(p, a.n-1, a.tip)
	if stands, had := b.standing[a.device]; had && stands.answer == a {
		b.world.Count("reply again")
		if !bytes.Equal(stands.frame, frame) && b.binding(a) {
			b.world.Find("a reply is repeated as it is", "%v: record %d: %x, before %x",
				p, a.n, frame, stands.frame)
		}
	}
	if stands, had := b.standing[a.device]; had && stands.n == a.n && stands.tip == a.tip &&
		stands.group != a.group {
		b.world.Count("reply to another group")
	}
	b.standing[a.device] = reply{a, bytes.Clone(frame)}
	if b.made[a] == nil {
		b.made[a] = map[uint64]bool{}
	}
}

// binding reports whether a contribution may only be repeated unchanged, because it can
// still be counted. Exception: a device that continued from a lost record may have prepared
// a later reply, which replaced this one without being sent.
func (b *Book) binding(a answer) bool {
	last := uint64(len(b.chain))
	return !b.lenient && a.n > b.gone && a.n == last+1 && b.chain[last-1].hash.Tip() == a.tip
}

// Delivered records that a reply reaches a coordinator.
func (b *Book) Delivered(to Process, kind frame.Kind, m *bus.Message) {
	switch kind {
	case frame.Uploading:
		b.cameUpload(to, m)
		return
	case frame.Masking:
		b.cameMasked(to, m)
		return
	}
	r, err := wire.DecodeReply(m.Data)
	if err != nil || r.Kind != wire.Contribution {
		return
	}
	made := b.made[answer{subjects.ID(m.Subject), r.N, r.Tip, groupOf(b.scenario.Plan, &r,
		subjects.ID(m.Subject))}]
	for epoch, p := range b.begun {
		if made != nil && p == to {
			made[epoch] = true
		}
	}
}
