package report

import (
	"encoding/hex"

	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
	"github.com/zofl/zofl/wire/survey"
)

// An EventKind says what happened.
type EventKind uint8

const (
	RoundDone     EventKind = 1  // a round was committed as record N
	Evaluated     EventKind = 2  // Evaluation is complete, or the next one is due
	RunPaused     EventKind = 3  // no round is open; Reason says why. Repeated if the log fails
	RunResumed    EventKind = 4  // by Resume, or because the log works again or devices are back
	RunEnded      EventKind = 5  // the end was committed as record N
	DigestsDiffer EventKind = 6  // devices report different digests of a state; once for each digest
	Joined        EventKind = 7  // ID joined a listed roster
	Adopted       EventKind = 8  // a coordinator of Epoch had written record N, of kind Record
	RolledBack    EventKind = 9  // a rollback to record To was committed as record N
	Changed       EventKind = 10 // a change of Fields of the plan was committed as record N
	Refused       EventKind = 11 // a requested record of kind Record was refused; see Reason
	Referred      EventKind = 12 // Digests has a reference, or a new one; once for each digest
	PhaseDone     EventKind = 13 // the first phase of a round of two was committed as record N
	Left          EventKind = 14 // member ID said goodbye
	Lost          EventKind = 15 // three rounds waited for member ID in vain; no more do
	SteppedOut    EventKind = 16 // member ID keeps declining, for Reason: no round waits for it
	Returned      EventKind = 17 // member ID, which had left or was lost, is back
	JoinRefused   EventKind = 18 // device ID may not join; Reason says why
	Retired       EventKind = 19 // member ID was retired by an operator
	Surveyed      EventKind = 20 // devices found a value of the plan: record N, a change of Fields
	SameID        EventKind = 21 // two devices send as member ID, each with its own answers
	StillPaused   EventKind = 22 // the run has lacked devices for Seconds; told ever less often
	Unused        EventKind = 23 // the work of member ID comes too late to count, see Reason
	Suspected     EventKind = 24 // contributions, keys or shares of member ID stand out, see Reason
	Reported      EventKind = 25 // member ID, or with "" the coordinator's program, has Values
	Improved      EventKind = 26 // Best has a value no worse than all before, see Plan.Best
)

var eventNames = [...]string{"", "round", "evaluated", "paused", "resumed", "ended",
	"digests differ", "joined", "adopted", "rolled back", "changed", "refused", "reference",
	"phase", "left", "lost", "stepped out", "returned", "join refused", "retired", "survey",
	"same id", "still paused",
	"unused", "suspected", "reported", "best"}

func (k EventKind) String() string { return eventNames[k] }

// MarshalText writes the name.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// An Event is what a [Recorder] receives.
type Event struct {
	Kind  EventKind
	N     uint64 // last record of the log
	Round uint64 // the last round in the log

	// RoundDone, PhaseDone.
	Attempt      uint32
	Contributors uint32
	Asked        uint32 // devices, by the last attempt; 0 on an open roster
	Declines     uint32 // in the last attempt
	Late         uint32 // contributors to earlier records; 0 without Plan.Late
	// Loss is the weighted mean of the contributors' training losses, see Plan.ClaimBound. Of
	// candidates, it is that of the one which all rank best.
	Loss          float32
	Seconds       float64 // since record N was first announced; SteppedOut, StillPaused: how long
	Step          float32 // the plan's step
	RoundStep     float32 // eta, which follows from Step, see [plan.Plan.StepSizeAt]
	Perturbations uint32  // P
	// Privacy is the most that the log has spent of each device's privacy; nil without noise.
	Privacy *dp.Budget

	Evaluation Evaluation    // Evaluated
	Digests    DigestReports // DigestsDiffer, Referred
	// Reason is why, for RunPaused, StillPaused, Refused, SteppedOut, JoinRefused, Unused, Suspected.
	Reason   string
	Diverged bool              // RunPaused: because the loss explodes, see Plan.Diverge
	End      wire.End          // RunEnded
	ID       string            // of the member or device
	Members  uint32            // Joined: including this one; Left, Lost, Returned: present ones
	Record   wire.RecordKind   // Adopted, Refused
	Epoch    uint64            // Adopted
	To       uint64            // RolledBack
	Fields   []string          // Changed, Surveyed: their names
	Survey   survey.Result     // Surveyed
	Values   deviceinfo.Values // Reported: numbers of the app's own, by name
	Best     *Best             // Improved
}

// An Evaluation is the metrics that devices measured for the state after record N.
type Evaluation struct {
	N       uint64
	Count   uint32    // devices that reported
	Asked   uint32    // devices that were asked; on an open roster, an estimate
	Samples uint64    // the sum of the weights
	Metrics []float32 // means weighted by samples, in the order of the plan's Metrics
}

// DigestReports counts the digests that devices reported of the state after record N. Healthy
// devices all report the same.
type DigestReports struct {
	N         uint64
	Reporters uint32        // devices that reported
	Values    []DigestCount // the 8 most frequent digests, most frequent first

	// Reference is the digest that the state must have. Source is the origin of Reference: the id of a
	// witness, or "plurality"; it is empty if there is no reference yet.
	Reference Digest
	Source    string
	Differing uint32   // devices that report another digest
	Differ    []string // the first 16 of them
}

// A DigestCount says how many devices reported a digest.
type DigestCount struct {
	Digest  Digest
	Devices uint32
}

// A Digest is the first 8 bytes of a state's digest.
type Digest [8]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText writes d in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// A Recorder receives events in the order in which they happened. The goroutine of Run calls it:
// return soon. If it returns an error, Run completes pending work, without further events, and
// returns the error.
type Recorder interface {
	Record(Event) error
}

// A RecorderFunc is a function that implements [Recorder].
type RecorderFunc func(Event) error

func (f RecorderFunc) Record(e Event) error { return f(e) }
