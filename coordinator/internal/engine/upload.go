package engine

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/internal/uploads"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// vectors holds the vectors that are arriving.
type vectors struct {
	uploads.Uploads
	due bool // one was stored, and those too old are not yet deleted
}

// Moved notes the log's next record, in a run whose records name vectors.
func (v *vectors) Moved(_ []byte, r wire.Record) { v.due = v.due || r.Kind == wire.KindRound }

// upload handles a piece of a device's vector, and answers it.
func (c *Core) upload(in Input) {
	u, err := wire.DecodeUpload(in.Frame)
	if err != nil || !subjects.Answerable(in.Token) {
		c.counters.Malformed++
		return
	}
	c.counters.UploadBytes += uint64(len(u.Data))
	m, ok := c.cohort.Member(in.ID)
	answer, counted := refused, func() {}
	switch {
	case !ok || c.witness(in.ID):
		c.counters.Unknown++
	case c.vectors == nil:
		c.counters.Malformed++
	default:
		c.heard(m)
		if c.cohort.Timely(u.N, u.Tip) {
			c.compare(m, presence.OfUpload(&u))
		}
		answer, counted = c.piece(m, &u)
	}
	answer.N = u.N
	c.emit(Output{Kind: OutRespond, Token: in.Token, Frame: answer.Append(nil)})
	counted() // may close the round, which the answer need not wait for
}

var (
	refused = wire.UploadReply{State: wire.UploadRefused}
	taken   = wire.UploadReply{State: wire.UploadTaken}
)

// piece takes a piece of a vector. piece returns the answer, and a function to call after it.
func (c *Core) piece(m presence.Device, u *wire.Upload) (answer wire.UploadReply, then func()) {
	nothing := func() {}
	if c.hasVector(m, u) {
		c.counters.Duplicate++
		return taken, nothing
	}
	r := wire.Reply{Kind: wire.Contribution, N: u.N, Tip: u.Tip, Weight: u.Weight, Loss: u.Loss}
	current, ok := c.admit(m, &r)
	if !ok {
		return refused, nothing
	}
	if fault := c.judgeUpload(m, u); fault != nil {
		*fault++
		return refused, nothing
	}
	data, answer := c.vectors.Add(m.ID, u, c.now)
	switch {
	case answer.State == wire.UploadBusy:
		c.counters.Busy++
		return answer, nothing
	case data == nil:
		c.counters.Pieces++
		return answer, nothing
	}
	if fault := c.desk().Vector(u, data); fault != nil {
		*fault++
		return c.blame(m, fault), nothing
	}
	r.Values = data
	c.take(m.Slot, &r, 0)
	waited := c.cohort.Waits(m, current)
	c.counted(m, &r)
	c.cohort.Took(m, c.N+1, current, c.now)
	c.cohort.Redeem(m, u.N)
	return taken, func() { c.answered(waited) }
}

// hasVector says whether a device's vector already counts in the record that the core makes now. A
// device whose answer was lost asks again.
func (c *Core) hasVector(m presence.Device, u *wire.Upload) bool {
	open := c.phase() == collecting && c.round.survey == survey.None || c.next.object != nil
	return open && u.N == c.N+1 && u.Tip == c.Hash.Tip() && c.cohort.Contributed(m)
}

// judgeUpload returns the counter of the fault that a piece shows, or nil if the piece shows none.
func (c *Core) judgeUpload(m presence.Device, u *wire.Upload) (fault *uint64) {
	switch {
	case c.round.survey != survey.None:
		return &c.counters.WrongSurvey
	case c.vectors.Spent(m.ID):
		return &c.counters.Duplicate
	case u.Size != 4*uint64(c.round.scalars):
		return &c.counters.WrongCount
	case !gather.Finite(u.Loss):
		return &c.counters.NonFinite
	}
	return nil
}

// blame answers a device whose vector the coordinator rejected. The device may send a damaged
// vector once more. A vector that arrived as the device meant it would be rejected again.
func (c *Core) blame(m presence.Device, fault *uint64) wire.UploadReply {
	if c.vectors.Blame(m.ID, fault == &c.counters.WrongDigest) {
		return wire.UploadReply{State: wire.UploadMore}
	}
	return refused
}
