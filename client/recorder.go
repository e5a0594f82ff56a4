package client

import (
	"time"

	"github.com/zofl/zofl/wire"
)

// State says what a client is doing.
type State int

const (
	Joining    State = iota // asking for a slot, or waiting for a coordinator
	CatchingUp              // fetching and applying records that it missed
	Waiting                 // waiting for a round that asks this device
	Working                 // probing the loss
	Paused                  // the coordinator has paused the run
	Ended                   // the run is over
)

func (s State) String() string {
	return [...]string{"joining", "catching up", "waiting", "working", "paused", "ended"}[s]
}

// Progress is what a client reports to its [Recorder].
type Progress struct {
	State  State
	Reason string // Paused: why, in the coordinator's words
	N      uint64 // last record applied
	Last   uint64 // last record of the log, as far as known
	Round  uint64 // last round applied, with both of its phases if it has two
	Phase  uint8  // phase of the round that record N+1 makes: 1 or 2 of two, else 0

	// Contributed says that this device sent its scalars for record N+1 or, with
	// transport=dense, that the coordinator has its vector.
	Contributed bool
	Loss        float64 // Contributed: this device's mean training loss
	Queries     uint64  // loss evaluations since New
	Gradients   uint64  // gradients or slopes since New, of an objective that has them
	// Refused are the frames since New that are not announcements of this version, or announcements
	// and answers that lack the signature of Config.Coordinator. Skipped of them came in a flood and
	// were dropped unread.
	Refused, Skipped uint64

	// Transfers, whose progress is Received of Size bytes.
	Snapshot uint64 // CatchingUp: record of the snapshot that is downloaded; 0: none
	Vector   uint64 // record whose vector is downloaded (CatchingUp) or sent (Working); 0: none
	Received uint64 // bytes that the receiver has: this device, or the coordinator if Working
	Size     uint64 // bytes of the whole

	// Declined, if not 0, is why this device declined record N+1. A device that keeps declining
	// takes no part for Recess, unless its policy allows work earlier.
	Declined wire.DeclineReason
	Recess   time.Duration
	// Err is what the loss did, if Declined. Otherwise it is a fault that Run survives.
	Err error
}

// A Recorder receives progress, on the goroutine of Run: return soon. An error stops Run,
// which returns it.
type Recorder interface {
	Record(Progress) error
}

// A RecorderFunc is a function that is a [Recorder].
type RecorderFunc func(Progress) error

func (f RecorderFunc) Record(p Progress) error { return f(p) }
