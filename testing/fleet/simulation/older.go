package simulation

import (
	"bytes"

	"github.com/zofl/zofl/testing/fleet/simulation/internal/frame"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// Some devices are of an earlier version: they neither send nor read the optional tails of frames
// that a plan does not need. Such a device does not say what it knows when it joins, so it claims
// no lost record, and it does not say how long it stays away. It does not hear for whom a round
// waits, so it answers each repetition.

// sentBy returns a frame as a process sends it.
func (w *world) sentBy(p *process, kind frame.Kind, data []byte) []byte {
	if d := w.parties[p.order].device; d == nil || !d.old {
		return data
	}
	switch kind {
	case frame.Joining:
		w.count("a join of an earlier version")
		return (&wire.JoinRequest{}).Append(nil)
	case frame.Replying:
		if r, err := wire.DecodeReply(data); err == nil && r.Kind == wire.Decline {
			r.Rest = nil
			return r.Append(nil)
		}
	}
	return data
}

// readBy returns a frame as a process reads it.
func (w *world) readBy(p *process, kind frame.Kind, data []byte) []byte {
	if d := w.parties[p.order].device; d == nil || !d.old {
		return data
	}
	switch kind {
	case frame.Announcing:
		return withoutMissing(data)
	case frame.Welcoming:
		if r, err := wire.DecodeJoinReply(data); err == nil {
			r.Announcement, r.Rest = withoutMissing(r.Announcement), nil
			return r.Append(nil)
		}
	}
	return data
}

// withoutMissing returns an announcement that does not name the devices for which a round waits.
func withoutMissing(data []byte) []byte {
	a, err := compact.Decode(data)
	if err != nil || len(a.Rest) == 0 {
		return data
	}
	var rest []byte
	if r, ok := a.Reference(); ok {
		rest = r.Append(nil)
	}
	if bytes.Equal(rest, a.Rest) {
		return data
	}
	return a.WithRest(rest)
}
