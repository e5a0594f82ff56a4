package runlog

import (
	"context"

	"github.com/zofl/zofl/wire"
)

// MaxHandover is the largest number of bytes of a handover.
const MaxHandover = 256

// Logs that store handovers implement Handovers. A handover is what a coordinator knows after a
// record, no record holds, and the next coordinator needs to make the same records, such as the
// trend of the step. Only plans with such knowledge have handovers. Every log of this module
// implements Handovers.
type Handovers interface {
	// HandOver stores what the coordinator will know once the log has record n with the given tip.
	// Call HandOver right before Append of that record, each time. Once Append has returned nil, the
	// handover survives a crash. A handover is at most [MaxHandover] bytes long.
	HandOver(ctx context.Context, n uint64, tip wire.Tip, state []byte) error

	// HandedOver returns the handover of the last record, or nil if there is none. The caller must not
	// change it.
	HandedOver(ctx context.Context) ([]byte, error)
}

// HandoverOf returns the handover of a log's last record, or nil if there is none, or if the log
// stores none.
func HandoverOf(ctx context.Context, log Log) (state []byte, err error) {
	if h, ok := log.(Handovers); ok {
		state, err = h.HandedOver(ctx)
	}
	return state, err
}
