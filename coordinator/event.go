package coordinator

import "github.com/zofl/zofl/wire"

// EventKind says what happened.
type EventKind uint8

const (
	RoundDone     EventKind = 1 // record N was committed: a round
	Evaluated     EventKind = 2 // Evaluation is complete, or another one is due
	RunPaused     EventKind = 3 // no round is opened until Resume; Reason says why. Again if the log fails
	RunResumed    EventKind = 4
	RunEnded      EventKind = 5 // record N was committed: the end
	DigestsDiffer EventKind = 6 // a device reported another digest of a state than others; once a digest
	Joined        EventKind = 7 // ID joined a dense roster
)

func (k EventKind) String() string {
	names := [...]string{"", "round", "evaluated", "paused", "resumed", "ended", "digests differ", "joined"}
	return names[k]
}

// An Event is something that a [Recorder] is told.
type Event struct {
	Kind  EventKind
	N     uint64 // last record of the log
	Round uint64 // last round in it

	// RoundDone.
	Attempt       uint32
	Contributors  uint32
	Loss          float32 // weighted mean of the contributors' training losses
	Seconds       float64 // since the round's first announcement
	Step          float32 // eta
	Perturbations uint32  // P

	Evaluation Evaluation    // Evaluated
	Digests    DigestReports // DigestsDiffer
	Reason     string        // RunPaused
	End        wire.End      // RunEnded
	ID         string        // Joined
	Members    uint32        // Joined: with this one
}

// An Evaluation is what devices measured of the state after record N.
type Evaluation struct {
	N       uint64
	Count   uint32    // devices that reported
	Asked   uint32    // devices that were asked; of an open roster, expected
	Samples uint64    // that the metrics are means over
	Metrics []float32 // means weighted by samples, in the order of the plan's Metrics
}

// DigestReports counts what devices reported as the digest of the state after
// record N. One value is as it should be.
type DigestReports struct {
	N      uint64
	Values []DigestCount // no two of one digest
}

// A DigestCount is how many devices reported a digest, by its first 8 bytes.
type DigestCount struct {
	Digest  [8]byte
	Devices uint32
}

// A Recorder receives events in the order in which they happened, on the
// goroutine of Run: return soon. An error stops Run, which returns it after it
// has done what was under way; events of that are told to nobody.
type Recorder interface {
	Record(Event) error
}

// RecorderFunc makes a [Recorder] of a function.
type RecorderFunc func(Event) error

func (f RecorderFunc) Record(e Event) error { return f(e) }
