package simulation

import (
	"bytes"
	"slices"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/frame"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/lean"
	"github.com/zofl/zofl/wire/subjects"
)

// sent checks a message before it is on its way.
func (b *book) sent(p *process, m *bus.Message) {
	kind, id := b.w.kind(m)
	switch kind {
	case frame.Announcing:
		b.announced(p, m.Data)
	case frame.Welcoming:
		b.welcomed(p, m.Data)
	case frame.Telling:
		b.told(p, m.Data)
	case frame.Replying:
		b.replied(p, id, m.Data)
	case frame.Handing:
		b.w.count("snapshot piece")
	case frame.Bringing:
		b.brought(p, m.Data)
	case frame.Taking:
		if r, err := wire.DecodeUploadReply(m.Data); err == nil {
			b.w.count("upload " + r.State.String())
		}
	}
}

// named checks that the log contains record n at this moment.
func (b *book) named(p *process, what string, n uint64) {
	if n > uint64(len(b.chain)) {
		b.w.find("nothing is told before it is committed", "%v: %s names record %d, the log has %d",
			p, what, n, len(b.chain))
	}
}

// carried checks that records from n on are those of the log.
func (b *book) carried(p *process, what string, n uint64, records wire.Records) {
	records.Each(func(record []byte) bool {
		if b.named(p, what, n); n <= uint64(len(b.chain)) && !bytes.Equal(b.chain[n-1].bytes, record) {
			b.w.find("nothing is told before it is committed",
				"%v: %s has another record %d than the log", p, what, n)
		}
		n++
		return true
	})
}

// unpack puts the record of a lean announcement in its place.
func (b *book) unpack(p *process, a *lean.Announcement) {
	if !a.Lean() || a.N-2 > uint64(len(b.chain)) {
		return
	}
	record, err := a.Record(b.chain[a.N-3].hash)
	if err != nil {
		b.w.find("frames decode", "%v: the record of a lean announcement of %d: %v", p, a.N, err)
		return
	}
	a.Records.Add(record)
	b.w.count("announce lean")
}

func (b *book) announced(p *process, frame []byte) {
	a, err := lean.Decode(frame)
	if err != nil {
		b.w.find("frames decode", "%v: announcement: %v", p, err)
		return
	}
	b.named(p, "an announcement", a.N-1)
	b.unpack(p, &a)
	b.carried(p, "an announcement", a.N-uint64(a.Records.Len()), a.Records)
	if b.begun[a.Epoch] != p {
		b.w.find("epochs ascend", "%v announces in epoch %d, which is not its own", p, a.Epoch)
	}
	b.w.count("announce " + a.State.String())
	if r, ok := a.Reference(); ok {
		b.referred(p, r)
	}
}

// referred checks a reference digest. At most one device has a wrong state.
func (b *book) referred(p *process, r wire.Reference) {
	b.w.count("reference")
	if !slices.ContainsFunc(b.states[r.N], func(s state) bool {
		return s.tip == r.Tip && [8]byte(s.digest[:8]) == r.Digest
	}) {
		b.w.find("references are true",
			"%v: the reference for record %d is of no state that the run had", p, r.N)
	}
}

func (b *book) welcomed(p *process, frame []byte) {
	r, err := wire.DecodeJoinReply(frame)
	if err != nil {
		b.w.find("frames decode", "%v: join reply: %v", p, err)
		return
	}
	b.named(p, "a join reply", r.Last)
	if r.Status == wire.JoinOK && (len(b.chain) == 0 || !bytes.Equal(r.Plan, b.chain[0].bytes)) {
		b.w.find("nothing is told before it is committed",
			"%v: a join reply has another plan than the log", p)
	}
	if len(r.Announcement) > 0 {
		b.announced(p, r.Announcement)
	}
}

func (b *book) told(p *process, frame []byte) {
	r, err := wire.DecodeCatchUpReply(frame)
	if err != nil {
		b.w.find("frames decode", "%v: catch-up reply: %v", p, err)
		return
	}
	b.named(p, "a catch-up reply", r.Last)
	b.carried(p, "a catch-up reply", r.From, r.Records)
	b.w.count("catch-up")
}

// replied checks what a device sends: it belongs to a state that a log had, and has the
// same bytes until the device sends something else.
func (b *book) replied(p *process, id string, frame []byte) {
	r, err := wire.DecodeReply(frame)
	if err != nil {
		b.w.find("frames decode", "%v: reply: %v", p, err)
		return
	}
	b.w.count("reply " + r.Kind.String())
	of := r.N
	if r.Kind == wire.Contribution || r.Kind == wire.Decline {
		of--
	}
	b.follows(p, of, r.Tip)
	a := answer{id, r.N, r.Tip, groupOf(b.w.scenario.Plan, &r, id)}
	stands, had := b.standing[id]
	switch {
	case r.Kind == wire.Decline && had && (stands.n != a.n || stands.tip != a.tip):
		delete(b.standing, id) // it replaces what was sent before
	case r.Kind == wire.Contribution:
		b.answersSurvey(a, &r)
		b.contributed(p, a, frame)
	}
}

// follows checks that what a device sends belongs to a state that a log had.
func (b *book) follows(p *process, n uint64, tip wire.Tip) {
	if !slices.Contains(b.tips[n], tip) {
		b.w.find("devices follow a log", "%v: a reply about record %d of no log", p, n)
	}
}

// contributed checks that a contribution is the one that was sent before.
func (b *book) contributed(p *process, a answer, frame []byte) {
	b.follows(p, a.n-1, a.tip)
	if stands, had := b.standing[a.device]; had && stands.answer == a {
		b.w.count("reply again")
		if !bytes.Equal(stands.frame, frame) && b.binding(a) {
			b.w.find("a reply is repeated as it is", "%v: record %d: %x, before %x",
				p, a.n, frame, stands.frame)
		}
	}
	if stands, had := b.standing[a.device]; had && stands.n == a.n && stands.tip == a.tip &&
		stands.group != a.group {
		b.w.count("reply to another group")
	}
	b.standing[a.device] = reply{a, bytes.Clone(frame)}
	if b.made[a] == nil {
		b.made[a] = map[uint64]bool{}
	}
}

// binding reports whether a contribution may only be repeated unchanged, because it can
// still be counted. Exception: a device that continued from a lost record may have prepared
// a later reply, which replaced this one without being sent.
func (b *book) binding(a answer) bool {
	last := uint64(len(b.chain))
	return !b.lenient && a.n > b.gone && a.n == last+1 && b.chain[last-1].hash.Tip() == a.tip
}

// delivered records that a reply reaches a coordinator.
func (b *book) delivered(to *process, m *bus.Message) {
	if kind, _ := b.w.kind(m); kind == frame.Uploading {
		b.cameUpload(to, m)
		return
	}
	r, err := wire.DecodeReply(m.Data)
	if err != nil || r.Kind != wire.Contribution {
		return
	}
	made := b.made[answer{subjects.ID(m.Subject), r.N, r.Tip, groupOf(b.w.scenario.Plan, &r,
		subjects.ID(m.Subject))}]
	for epoch, p := range b.begun {
		if made != nil && p == to {
			made[epoch] = true
		}
	}
}
