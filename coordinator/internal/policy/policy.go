// Package policy defines the questions that the engine asks policies. They cover everything beyond
// rounds in which a uniform cohort sends scalars once. The engine knows no policy. A plan that
// lacks one has nil in its place.
package policy

import (
	"iter"

	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/internal/quorum"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A Set is the policies of a run.
type Set struct {
	Stages  aggregate.Parts // of what a record makes of contributions
	Steps   Steps
	Groups  Groups
	Surveys []Survey // the first that is due asks
	Law     Law
}

// Members are the members of a run as the engine sees them.
type Members interface {
	// Members returns how many there are; their slots are below.
	Members() uint32
	// State returns what the engine believes about a member.
	State(slot uint32) report.DeviceState
	// Contributed says whether a member has contributed to the open round.
	Contributed(slot uint32) bool
}

// Named lists the members that an attempt asks by name; it asks nobody else.
type Named interface {
	Has(slot uint32) bool
	Count() int
	Slots() iter.Seq[uint32]
}

// Groups are the devices that share directions.
type Groups interface {
	// Names says whether announcements name the devices that an attempt asks; otherwise devices draw
	// groups.
	Names() bool
	// Choose returns the devices that an attempt of a round asks. The first attempt is 0.
	Choose(round uint64, attempt uint32, m Members) Named
	// All says whether the last attempt asks every present member that has not answered.
	All() bool
	// Counts says whether a contribution is along the directions of its device's group. It reads the
	// bytes after the contribution's scalars.
	Counts(slot uint32, rest []byte) bool
	// Seat returns the slot under which a member's contribution to record n is held.
	Seat(n uint64, slot uint32, id string) uint32
	// Of returns the group of a slot in record n.
	Of(n uint64, slot uint32, id string) (group uint32, ok bool)
	// Tail returns the tail of an announcement that names the devices it asks.
	Tail(reference wire.Reference, m wire.Missing, named bool, whom Named) []byte
}

// A Survey asks devices now and then for other numbers than a round's. It has the cohorts,
// attempts, quorum and deadlines of a round.
type Survey interface {
	// Due returns what to ask for after the given number of rounds, or [survey.None]. It depends on
	// the log, or on something that affects no record.
	Due(rounds uint64, m Members) survey.Kind
	// All says whether it asks all members, and waits for all.
	All() bool
	// Done returns the change of the plan that follows from the answers, or nil if no record follows.
	// ok is false if no value works.
	Done(k survey.Kind, rounds uint64, answers *aggregate.Rows, m Members) (found survey.Result,
		change *plan.Change, ok bool)
}

// A Law finds the step of a round from its contributions.
type Law interface {
	// Open begins a round.
	Open()
	// Add notes the bytes that came after a contribution's scalars.
	Add(rest []byte)
	// Next returns the step of a round whose body is complete except for the step.
	Next(at *runlog.Position, body *wire.Round, losses []float32) float32
	Follower // a rollback has it forget everything that is not in the log
}

// A Follower follows the log, whose position is past the record when it is told. It makes nothing
// of its own.
type Follower interface {
	// Moved tells of the log's last record: its bytes, and what they say.
	Moved(record []byte, r wire.Record)
}

// Steps lead the devices of an attempt through several answers, after which only a sum is known.
// Each step is a collection of its own.
type Steps interface {
	// Fit returns as much of an attempt's cohort at record n as can take part.
	Fit(c wire.Cohort, n uint64, attempt uint32, away func(slot uint32) bool) wire.Cohort
	// Saturated says whether an attempt asks as many devices as can take part.
	Saturated() bool
	// TooFew says whether another attempt would be in vain because too few devices are present.
	TooFew(present uint32) bool
	// Begin opens an attempt, which has the head of an announcement.
	Begin(a *wire.Announcement, tip wire.Tip, scalars int, now uint64, away func(slot uint32) bool)
	// Hopeless says whether the attempt was in vain from the start.
	Hopeless() bool
	// Tail returns the tail of its announcement.
	Tail(rest []byte) []byte

	// On says whether an attempt is open that has no sum yet. The methods up to Close are for it.
	On() bool
	// Step returns the open step's name.
	Step() string
	// Waits says whether the open step still needs a device's answer. If no step is open, it returns
	// true.
	Waits(slot uint32) bool
	// Needs returns q with the answers that the open step has and needs.
	Needs(q quorum.Quorum) quorum.Quorum
	// Ends returns when the open step ends at the latest.
	Ends(deadline uint64) uint64
	// Close ends the open step, and says whether it ended well: then another one is open, or there
	// is a sum. respond answers a device that waits.
	Close(respond func(token string, frame []byte)) (ok bool)
	// Abort ends the attempt.
	Abort()

	// Read reads a device's message to record n.
	Read(frame []byte) (m Message, err error)
	// Take takes it, counts one that it drops, and says whether the open step waited for it.
	Take(slot uint32, m Message, token string, counters *report.Counters,
		respond func(token string, frame []byte)) (taken bool)

	// Result returns the mean of the losses of count devices.
	Result() (loss float32, count uint32)
	// Contributors returns the slots whose numbers are in the sum.
	Contributors() []uint32
	// Liars returns the slots that were found to lie.
	Liars() []uint32
	// Spent says whether another attempt at the record would be in vain. declines counts the declines
	// by reason, among the devices that could be reached.
	Spent(declines []uint32, reachable uint32) bool
	// Skip returns the change that takes the index of a record that cannot be made.
	Skip() *plan.Change
}

// A Message is a device's part of a step.
type Message struct {
	N    uint64
	Sent presence.Answer // as two devices with one id are told apart by it
	Body any
}
