package coordinator

import (
	"encoding/hex"

	"github.com/zofl/zofl/wire"
)

// EventKind says what happened.
type EventKind uint8

const (
	RoundDone     EventKind = 1  // record N was committed: a round
	Evaluated     EventKind = 2  // Evaluation is complete, or another one is due
	RunPaused     EventKind = 3  // no round is opened; Reason says why. Again when the log fails
	RunResumed    EventKind = 4  // by Resume, or because the log works again
	RunEnded      EventKind = 5  // record N was committed: the end
	DigestsDiffer EventKind = 6  // a device reported another digest of a state than others; once a digest
	Joined        EventKind = 7  // ID joined a dense roster
	Adopted       EventKind = 8  // another coordinator, of Epoch, had written record N, of kind Record
	RolledBack    EventKind = 9  // record N was committed: the run is what it was after record To
	Changed       EventKind = 10 // record N was committed: Fields of the plan have other values
	Refused       EventKind = 11 // a record of kind Record that was asked for can no longer be; Reason says why
	Referred      EventKind = 12 // Digests has a reference, or another one; once a digest
	PhaseDone     EventKind = 13 // record N was committed: the first phase of a round of two; RoundDone follows
)

var eventNames = [...]string{"", "round", "evaluated", "paused", "resumed", "ended", "digests differ", "joined",
	"adopted", "rolled back", "changed", "refused", "reference", "phase"}

func (k EventKind) String() string { return eventNames[k] }

// MarshalText writes the name.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// An Event is something that a [Recorder] is told.
type Event struct {
	Kind  EventKind
	N     uint64 // last record of the log
	Round uint64 // last round in it

	// RoundDone, PhaseDone.
	Attempt       uint32
	Contributors  uint32
	Loss          float32 // weighted mean of the contributors' training losses
	Seconds       float64 // since the first announcement of record N
	Step          float32 // eta
	Perturbations uint32  // P

	Evaluation Evaluation      // Evaluated
	Digests    DigestReports   // DigestsDiffer, Referred
	Reason     string          // RunPaused, Refused
	End        wire.End        // RunEnded
	ID         string          // Joined
	Members    uint32          // Joined: with this one
	Record     wire.RecordKind // Adopted, Refused
	Epoch      uint64          // Adopted
	To         uint64          // RolledBack
	Fields     []string        // Changed: their names
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
	N         uint64
	Reporters uint32        // devices
	Values    []DigestCount // no two of one digest, the 8 of most devices first

	// Reference is what the state's digest has to be. Source says who made it
	// so: the id of a witness, or "plurality"; it is empty if there is none yet.
	Reference Digest
	Source    string
	Differing uint32   // devices that report anything else
	Differ    []string // the first 16 of them
}

// A DigestCount is how many devices reported a digest.
type DigestCount struct {
	Digest  Digest
	Devices uint32
}

// A Digest is the first 8 bytes of a state's digest.
type Digest [8]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText writes d in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// A Recorder receives events in the order in which they happened, on the
// goroutine of Run: return soon. An error stops Run, which returns it after it
// has done what was under way; events of that are told to nobody.
type Recorder interface {
	Record(Event) error
}

// RecorderFunc makes a [Recorder] of a function.
type RecorderFunc func(Event) error

func (f RecorderFunc) Record(e Event) error { return f(e) }
