package wire

import (
	"math"

	"github.com/zofl/zofl/wire/internal/codec"
)

// A Lead says that a coordinator leads the run from a log that it shares with no other one. Such
// coordinators exchange leads, and all but the one that has run longest step down.
type Lead struct {
	Instance [8]byte // random, another one for each process
	Epoch    uint64
	Uptime   uint64 // milliseconds
	Rest     []byte
}

// Append appends the encoding of l to b: the array [version, instance, epoch, uptime],
// then Rest.
func (l *Lead) Append(b []byte) []byte {
	b = codec.AppendBin(append(codec.AppendArray(b, 4), FrameVersion), l.Instance[:])
	b = codec.AppendUint(codec.AppendUint(b, l.Epoch), l.Uptime)
	return append(b, l.Rest...)
}

// DecodeLead reads a lead. Rest aliases b.
func DecodeLead(b []byte) (Lead, error) {
	d := newReader("lead", b)
	d.Head(FrameVersion, 4)
	var l Lead
	d.bytes("instance", l.Instance[:])
	l.Epoch = d.Uint("epoch", math.MaxInt64)
	l.Uptime = d.Uint("uptime", math.MaxInt64)
	l.Rest = d.Rest()
	if !d.OK() {
		return Lead{}, d.err()
	}
	return l, nil
}
