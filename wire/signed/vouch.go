package signed

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/wire"
)

// Vouch appends a reference to the rest of a catch-up reply: first the [wire.LogStart], or an empty
// array in its place, then the reference. The coordinator sends the reference in a signed answer of
// one record, to a device that is about to fetch a snapshot of the state after that record.
func Vouch(rest []byte, r wire.Reference) []byte {
	if len(rest) == 0 {
		rest = codec.AppendArray(nil, 0)
	}
	return append(rest, r.Append(nil)...)
}

// Vouched returns the reference that [Vouch] appended. ok is false if the reply has no reference.
func Vouched(reply *wire.CatchUpReply) (r wire.Reference, ok bool) {
	d := codec.NewReader("log start", reply.Rest)
	switch d.Array("log start", codec.MaxFields, 1) {
	case 0:
	case 2:
		d.Uint("n", math.MaxInt64)
		d.Bin("hash", wire.MaxHead)
	default:
		return r, false
	}
	if !d.OK() {
		return r, false
	}
	return (&wire.Announcement{Rest: d.Rest()}).Reference()
}
