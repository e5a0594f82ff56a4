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
	Lost     uint64          // messages to or from phones that had no radio or had ended

	Pauses      int           // times that the run paused
	PausedFor   time.Duration // virtual time in which the run was paused
	FinalState  report.State
	FinalReason string // why the run is paused at the end

	// States is how many times the simulation compared a phone's state with the log's state, at the
	// end of a session. Differ names the phones whose state differs. Behind is the largest lag of a
	// phone behind the log at the end, in records, among phones that have been present for a minute.
	States int
	Differ []string
	Behind uint64

	Faults []string // errors that ended a client or the coordinator early
	Digest string   // of the final model, in hexadecimal
}

// An Hour is the events of a part of the day. All counts are for that part.
type Hour struct {
	End     time.Duration // virtual time at its end, since midnight
	Present float64       // mean number of phones whose app runs and whose radio works

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
