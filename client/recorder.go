package client

import (
	"time"

	"github.com/zofl/zofl/wire"
)

// State is the present activity of a client.
type State int

const (
	Joining    State = iota // asking for a slot, or waiting for a coordinator
	CatchingUp              // fetching and applying records that the device missed
	Waiting                 // waiting for a round that asks this device
	Working                 // evaluating the loss
	Paused                  // the coordinator has paused the run
	Ended                   // the run is over
)

func (s State) String() string {
	return [...]string{"joining", "catching up", "waiting", "working", "paused", "ended"}[s]
}

// Progress is what a client reports to its [Recorder].
type Progress struct {
	State  State
	Reason string // Paused: why, in the coordinator's words. Waiting: for whom; "": for a round
	N      uint64 // last record applied
	Last   uint64 // last record of the log, as far as this device knows
	Round  uint64 // last round applied; with two phases, both of them
	Phase  uint8  // phase of the round that record N+1 makes: 1 or 2; 0 for rounds of one phase

	// Contributed says that this device sent its scalars for record N+1. With transport=dense,
	// Contributed says that the coordinator has the device's vector.
	Contributed bool
	Loss        float64 // Contributed: this device's mean training loss
	Queries     uint64  // loss evaluations since New
	Gradients   uint64  // gradients or slopes since New, if the objective has them
	// Refused counts the frames since New that the client ignored, because they are not announcements
	// of this version or lack the signature of Config.Coordinator. Skipped counts those of the refused
	// frames that came in a flood, and that the client dropped unread.
	Refused, Skipped uint64

	// The next fields describe a transfer: Received of Size bytes have arrived.
	Snapshot uint64 // CatchingUp: record of the snapshot that the device downloads; 0: none
	Vector   uint64 // record whose vector is received (CatchingUp) or sent (Working); 0: none
	Received uint64 // bytes that the receiver has: this device, or the coordinator if Working
	Size     uint64 // bytes of the whole transfer

	// Declined, if not 0, gives the reason why this device declined record N+1. A device that keeps
	// declining skips rounds for Backoff, unless its policy allows work earlier.
	Declined wire.DeclineReason
	Backoff  time.Duration
	// Err is the error of the loss, if Declined is set. Otherwise Err is a fault after which Run
	// goes on.
	Err error
}

// A Recorder receives progress on the goroutine of Run, so return soon. If Record returns an error,
// Run stops and returns that error.
type Recorder interface {
	Record(Progress) error
}

// A RecorderFunc is a function that is a [Recorder].
type RecorderFunc func(Progress) error

func (f RecorderFunc) Record(p Progress) error { return f(p) }
