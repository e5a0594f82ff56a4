package day

import (
	"time"

	"github.com/zofl/zofl/coordinator/report"
)

// A History is the events of a day.
type History struct {
	Seed    uint64
	Devices int
	Hours   []Hour // each covers Config.Every; the last one may be shorter
	Total   Hour   // sums over the day, and the final model

	Counters report.Counters // of the coordinator, at the end
	Arrived  uint64          // replies that reached the coordinator
	Lost     uint64          // messages to or from phones without radio, or that had ended

	Pauses      int           // times that the run paused
	PausedFor   time.Duration // virtual time in which it was paused
	FinalState  report.State
	FinalReason string // why it is paused at the end

	// States are the phones' states that were compared with that of the log, at the end of each
	// session; Differ names those that differ. Behind is the largest lag of a phone behind the
	// log at the end, in records, among phones that have been there for a minute.
	States int
	Differ []string
	Behind uint64

	Faults []string // errors that ended a client or the coordinator early
	Digest string   // of the final model, in hexadecimal
}

// An Hour is the events in a part of the day. Counts are of that part.
type Hour struct {
	End     time.Duration // virtual time at its end, since midnight
	Present float64       // phones whose app runs and whose radio works, in the mean

	Rounds        uint64
	Attempts      uint64 // of these rounds, the first ones included
	Contributions uint64 // that the coordinator accepted
	Counted       uint64 // contributions in the records of these rounds
	Declines      uint64
	Late          uint64 // replies to rounds that had closed
	Duplicates    uint64
	Joins         uint64
	CatchUps      uint64
	SentBytes     uint64 // by all phones, as on a NATS connection without TLS
	ReceivedBytes uint64

	Loss, Accuracy float64 // of the model at the end, on held-out digits
}
