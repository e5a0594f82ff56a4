package client

import "github.com/zofl/zofl/wire"

// State says what a client is doing.
type State int

const (
	Joining    State = iota // asking for a slot, or waiting for a coordinator
	CatchingUp              // fetching and applying records that it missed
	Waiting                 // for a round that asks this device
	Working                 // probing the loss
	Paused                  // the coordinator opens no rounds
	Ended                   // the run is over
)

func (s State) String() string {
	return [...]string{"joining", "catching up", "waiting", "working", "paused", "ended"}[s]
}

// Progress is what a [Recorder] is told.
type Progress struct {
	State  State
	Reason string // Paused: why, in the coordinator's words
	N      uint64 // last record applied
	Last   uint64 // last record of the log, as far as known
	Round  uint64 // last round applied, of two phases both
	Phase  uint8  // of the round that record N+1 makes: 1 or 2 of two, wire.Plan.Phases, else 0

	Contributed bool    // this device's scalars for record N+1 were sent, or the coordinator has its vector
	Loss        float64 // Contributed: its own mean training loss
	Queries     uint64  // loss evaluations since New
	Refused     uint64  // frames since New that were no announcements of this version

	Snapshot uint64 // CatchingUp: record of the snapshot that is taken, 0: none is
	Vector   uint64 // of a dense run, record whose vector comes (CatchingUp) or goes (Working), 0: none does
	Received uint64 // bytes of either that this device has, or of what goes the coordinator
	Size     uint64 // its bytes

	Declined wire.DeclineReason // not 0: sat record N+1 out, and why
	Err      error              // Declined: what the loss did; otherwise a fault that passed, or that Run goes on with
}

// A Recorder receives progress, on the goroutine of Run: return soon. An error
// stops Run, which returns it.
type Recorder interface {
	Record(Progress) error
}

// RecorderFunc makes a [Recorder] of a function.
type RecorderFunc func(Progress) error

func (f RecorderFunc) Record(p Progress) error { return f(p) }
