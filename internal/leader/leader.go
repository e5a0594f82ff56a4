// Package leader has the frame by which coordinators of one run learn of each other. Package
// coordinator/internal/leader sends the frame, and decides which coordinator leads.
package leader

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/wire"
)

// A Frame says that a coordinator leads the run from a log that it shares with no other
// coordinator. Coordinators of one run with separate logs exchange frames, and all of them stop,
// except the coordinator that has run longest.
type Frame struct {
	Instance [8]byte // random, different for each process
	Epoch    uint64
	Uptime   uint64 // milliseconds
	Rest     []byte
}

// Append appends the encoding of f to b: the array [version, instance, epoch, uptime],
// then Rest.
func (f *Frame) Append(b []byte) []byte {
	b = codec.AppendBin(append(codec.AppendArray(b, 4), wire.FrameVersion), f.Instance[:])
	b = codec.AppendUint(codec.AppendUint(b, f.Epoch), f.Uptime)
	return append(b, f.Rest...)
}

// Decode reads a frame. Rest shares the memory of b. An error is a [*wire.DecodeError].
func Decode(b []byte) (Frame, error) {
	d := codec.NewReader("lead", b)
	if len(b) > wire.MaxFrame {
		d.Fail("lead", wire.ErrLimit)
	}
	d.Head(wire.FrameVersion, 4)
	var f Frame
	instance := d.Bin("instance", wire.MaxFrame)
	if d.OK() && len(instance) != len(f.Instance) {
		d.Fail("instance", wire.ErrForm)
	}
	copy(f.Instance[:], instance)
	f.Epoch = d.Uint("epoch", math.MaxInt64)
	f.Uptime = d.Uint("uptime", math.MaxInt64)
	f.Rest = d.Rest()
	if !d.OK() {
		frame, field, err := d.Fault()
		return Frame{}, &wire.DecodeError{Frame: frame, Field: field, Err: err}
	}
	return f, nil
}
