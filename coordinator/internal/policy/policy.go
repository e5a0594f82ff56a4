// Package policy defines the questions that the engine asks policies. Policies decide everything
// beyond rounds in which a uniform cohort sends scalars once. The engine knows no policy. If a plan
// has no policy of a kind, the field of that kind is nil.
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

// A Set holds the policies of a run.
type Set struct {
	Stages  aggregate.Parts // of what a record makes of contributions
	Steps   Steps
	Groups  Groups
	Surveys []Survey // the first that is due asks
	Law     Law
	// Requests is not nil only with a Law.
	Requests Requests
	// Losses is not nil only with a Law. nil: devices report the loss of the model.
	Losses Losses
	Knows  []Knowledge // nil: the run's records depend on nothing but records and contributions
}

// Members are the members of a run as the engine sees them.
type Members interface {
	// Members returns the number of members; their slots are below that number.
	Members() uint32
	// State returns what the engine believes about a member.
	State(slot uint32) report.DeviceState
	// Contributed says whether a member has contributed to the open round.
	Contributed(slot uint32) bool
}

// Named is the set of members that an attempt asks by name. Such an attempt asks no other device.
type Named interface {
	Has(slot uint32) bool
	Count() int
	Slots() iter.Seq[uint32]
}

// Groups are the devices that share directions.
type Groups interface {
	// Names says whether announcements name the devices that an attempt asks. Otherwise devices draw
	// their groups.
	Names() bool
	// Choose returns the devices that an attempt of a round asks. The first attempt is 0.
	Choose(round uint64, attempt uint32, m Members) Named
	// All says whether the last attempt asks every present member that has not answered.
	All() bool
	// Counts says whether a contribution is along the directions of its device's group. rest has the
	// bytes after the contribution's scalars.
	Counts(slot uint32, rest []byte) bool
	// Seat returns the slot under which the chain holds a member's contribution to record n.
	Seat(n uint64, slot uint32, id string) uint32
	// Of returns the group of a slot in record n.
	Of(n uint64, slot uint32, id string) (group uint32, ok bool)
	// Tail returns the tail of an announcement, with the devices that the announcement asks.
	Tail(reference wire.Reference, m wire.Missing, named bool, whom Named) []byte
}

// A Survey asks devices from time to time for other numbers than a round's scalars. A survey has
// the cohorts, attempts, quorum and deadlines of a round.
type Survey interface {
	// Due returns what to ask for after the given number of rounds, or [survey.None]. The answer
	// depends on the log, or on something that affects no record.
	Due(rounds uint64, m Members) survey.Kind
	// All says whether the survey asks all members, and waits for all of them.
	All() bool
	// Done returns the change of the plan that follows from the answers, or nil if no record follows.
	// ok is false if no value works.
	Done(k survey.Kind, rounds uint64, answers *aggregate.Rows, m Members) (found survey.Result,
		change *plan.Change, ok bool)
	// Again returns a change after which devices look for a value again, or try other points, if a
	// round failed because of them. declines has the number of declines by reason, and reachable the
	// number of devices that the attempt could reach. Nobody contributed. Again returns nil if the
	// cause was another, or if devices have tried often enough.
	Again(declines []uint32, reachable uint32) *plan.Change
}

// A Law computes the step of a round from the round's contributions, and how many perturbations the
// next round has.
type Law interface {
	// Open begins a round that has P perturbations by its plan, and returns how many it has.
	Open(perturbations uint32) uint32
	// Announce sets the step and the perturbations of the announcement of a round.
	Announce(a *wire.Announcement)
	// Add takes the scalars of a contribution, and the bytes after them.
	Add(scalars []float32, rest []byte)
	// Next returns the step of a round whose body is complete except for the step.
	Next(at *runlog.Position, body *wire.Round, losses []float32) float32
	Follower // a rollback has it forget everything that is not in the log
}

// Losses are those of a run whose devices report the least loss of some candidates.
type Losses interface {
	// Compare replaces the losses of a round, in the order of [Law.Add], by losses that compare with
	// those of other rounds. It returns what the mean that people see rises by, and how far luck may
	// have lowered the losses. The body is complete except for the step, and [Law.Next] comes after.
	Compare(body *wire.Round, losses []float32) (rise float32, luck float64)
}

// Requests are what a policy asks for as an operator does.
type Requests interface {
	// Request returns what the run needs after the log's last record. It asks for each once.
	Request() Request
}

// A Request has one field set, or none.
type Request struct {
	Record *wire.Record // a change or a rollback
	End    *wire.End
	Pause  string // why
}

// A Follower follows the log. The log's position is past a record when the core calls Moved with
// that record. A Follower makes no outputs.
type Follower interface {
	// Moved receives the log's last record, as bytes and decoded.
	Moved(record []byte, r wire.Record)
}

// Knowledge is what the coordinator has learned from contributions, and no record holds, but later
// records depend on. Each coordinator hands it over to the next, so that a run whose coordinator
// was killed has the same records as one whose coordinator was not.
type Knowledge interface {
	// Kind returns the number by which the next coordinator finds the knowledge. All kinds differ.
	Kind() uint8
	// Append appends to b what will be known once the log has the next record, which is of a kind. The
	// policy does not follow that record yet.
	Append(b []byte, next wire.RecordKind) []byte
	// Read takes what Append wrote, in place of what was known. Without bytes, nothing is known. ok is
	// false if Append cannot have written b; then nothing is known either.
	Read(b []byte) (ok bool)
}

// Steps lead the devices of an attempt through several answers, after which the coordinator knows
// only a sum. Each step is a collection of answers with its own quorum.
type Steps interface {
	// Fit returns the largest part of an attempt's cohort at record n that can take part.
	Fit(c wire.Cohort, n uint64, attempt uint32, away func(slot uint32) bool) wire.Cohort
	// Saturated says whether an attempt asks as many devices as can take part.
	Saturated() bool
	// TooFew says whether another attempt would be in vain because too few devices are present.
	TooFew(present uint32) bool
	// Begin opens an attempt. a is the attempt's announcement, without its tail.
	Begin(a *wire.Announcement, tip wire.Tip, scalars int, now uint64, away func(slot uint32) bool)
	// Hopeless says whether the attempt cannot succeed from the start.
	Hopeless() bool
	// Tail returns the tail of the attempt's announcement.
	Tail(rest []byte) []byte

	// On says whether an attempt is open that has no sum yet. The methods from Step to Close refer to
	// that attempt.
	On() bool
	// Step returns the open step's name.
	Step() string
	// Waits says whether the open step still needs a device's answer. If no step is open, it returns
	// true.
	Waits(slot uint32) bool
	// Needs returns q with the number of answers that the open step has and needs.
	Needs(q quorum.Quorum) quorum.Quorum
	// Ends returns when the open step ends at the latest.
	Ends(deadline uint64) uint64
	// Close ends the open step. ok says whether the step succeeded, so that the next step is open, or
	// there is a sum. respond answers a waiting device.
	Close(respond func(token string, frame []byte)) (ok bool)
	// Abort ends the attempt.
	Abort()

	// Read reads a device's message to record n.
	Read(frame []byte) (m Message, err error)
	// Take takes a device's message. Take counts a message that it drops, and says whether the open
	// step waited for the message.
	Take(slot uint32, m Message, token string, counters *report.Counters,
		respond func(token string, frame []byte)) (taken bool)

	// Result returns the mean of the losses of count devices.
	Result() (loss float32, count uint32)
	// Contributors returns the slots of the devices whose numbers are in the sum.
	Contributors() []uint32
	// Accused returns the devices that sent what is false, or may have. The list is ascending by slot,
	// and changes only in Close.
	Accused() []Accused
	// Spent says whether another attempt at the record would be in vain. declines has the number of
	// declines by reason. reachable is the number of devices that the attempt could reach.
	Spent(declines []uint32, reachable uint32) bool
	// Skip returns a change for the index of a record that no attempt can make.
	Skip() *plan.Change
	// Allows returns an error if devices would take no part after a change that leads to a plan.
	Allows(after *plan.Plan) error
	// Restores returns the change with which devices go on after a rollback to a state that had an
	// earlier plan; nil: they go on without one. quorum is the highest before the rollback.
	Restores(earlier *plan.Plan, quorum uint32) *plan.Change
}

// An Accused is a device that sent what is false in an attempt, or may have.
type Accused struct {
	Slot  uint32
	Times uint32   // attempts
	Or    []uint32 // the devices that may have done so in its place, ascending; none: it did
	Out   bool     // attempts leave it out
}

// A Message is a device's message in a step.
type Message struct {
	N    uint64
	Sent presence.Answer // as two devices with one id are told apart by it
	Body any
}
