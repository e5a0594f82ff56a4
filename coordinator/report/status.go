package report

import (
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire"
)

// A State is the present activity of a coordinator.
type State uint8

const (
	Waiting State = 0 // for the members of round 1, or for the log
	Open    State = 1 // a round collects replies
	Paused  State = 2 // no record follows until Resume, or until the log works or devices are back
	Ended   State = 3 // the last record is an end
	Deposed State = 4 // another coordinator leads the run
)

func (s State) String() string {
	return [...]string{"waiting", "open", "paused", "ended", "deposed"}[s]
}

// MarshalText writes the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Status is a snapshot of a run.
type Status struct {
	Run    string
	State  State
	Reason string    // Paused: why
	By     string    // Paused: who asked for it; "": the run did
	Unkept string    // why the log does not keep what was decided, such as a pause; "": it does
	End    *wire.End // Ended

	// LogError is the reason why the log stores no record at present. CatchUpError is the reason why a
	// request for records last failed to read the log.
	LogError, CatchUpError string
	ObjectError            string // why the last request for a vector failed

	N          uint64 // last record of the log
	Rounds     uint64 // rounds done
	Epoch      uint64
	Members    uint32 // on a listed roster; on an open one, the estimated devices
	Present    uint32 // members that a round waits for, none once the run has ended; see [Device]
	Key        string // public, with which frames are signed: "ed25519:..."; "": they are not
	PauseAfter uint64 // the round after which the run will pause; 0: none
	Waits      string // for how many devices the run waits, and how to continue without them

	// The open round.
	Phase         uint8  // 1 or 2 where rounds have two phases, 0 otherwise
	Survey        string // what it finds: step, mu, sigma, sketch or columns; "": it trains
	Attempt       uint32
	Asked         uint32 // devices of the attempt's cohort, about as many on an open roster
	Contributions uint32
	Declines      uint32 // in this attempt
	Uploads       uint32 // vectors that have arrived in part

	Participation Participation // zero before the first round that this coordinator closes

	Loss       float32    // of the last round
	Privacy    *dp.Budget // what the log has spent of each device's privacy; nil without noise
	Planned    *dp.Budget // what all rounds will spend without other records; nil: no end or no noise
	Evaluation Evaluation
	Best       *Best           // nil: the plan has no Best, or no evaluation counted yet
	Digests    []DigestReports // of the last few states whose digests the run asked for
	Reference  *Reference      // the reference in announcements; nil if there is none yet
	Counters   Counters
	// TurnedAway counts messages that were dropped unread, by kind: replies, joins, pieces, and
	// requests for records, vectors and snapshots. They are also counted in [Counters.Overflow],
	// [Counters.Stale] and [Counters.NotAllowed].
	TurnedAway map[string]uint64
	// Offenders are the senders, at most 8, that caused most of the refused or faulty messages. Only
	// ID, Refused and Faulty are set. An ID of the form "X of _INBOX.Y" is the last id without a slot
	// that a connection used; it may belong to anybody.
	Offenders []Device
	SameID    []string // ids, at most 8, under which two devices send
	// Unused gives the reason why the work of members, at most 8, has come too late to count for 16
	// records in a row or more.
	Unused map[string]string
	// Suspects says of members, at most 8, what they did in most of the last rounds in which they took
	// part, and the remedy. With Plan.Secure, it says who sent false keys or shares, or may have. A
	// plan without either has none, and neither has an open roster.
	Suspects map[string]string
	// Disputed says that more than a third of the members would be suspects, so that nobody can tell
	// who is wrong; "": they would not.
	Disputed string
	// Unjudged says that nobody is a suspect yet, because the coordinator began in the middle of the
	// run and has seen too few contributions.
	Unjudged bool
}

// A Reference is the digest that the state after record N must have.
type Reference struct {
	N      uint64
	Digest Digest
}

// Counters count messages that arrived since the coordinator began.
type Counters struct {
	Contributions uint64
	Evaluations   uint64
	Declines      uint64
	Goodbyes      uint64
	Digests       uint64
	Joins         uint64
	CatchUps      uint64 // requests for records that were answered
	CatchUpBytes  uint64 // of the answers
	CatchUpErrors uint64 // requests that failed because the log could not be read

	// With transport=dense.
	UploadBytes  uint64 // of devices' vectors, accepted or not
	Pieces       uint64 // pieces of vectors that were taken, but for the last of each
	Busy         uint64 // pieces of vectors that found no memory yet
	Evicted      uint64 // idle vectors that lost their memory to others
	Objects      uint64 // requests for records' vectors that were answered
	ObjectBytes  uint64 // of the answers
	ObjectErrors uint64 // requests for a vector that the log should have and could not return

	// Repeated counts replies that arrived again after the coordinator had repeated an announcement,
	// or after their record was closed with them.
	Repeated uint64

	// Cut counts contributions and control variates that Plan.Bound cut, or means with secure=sum;
	// each is counted elsewhere, too.
	Cut     uint64
	Adopted uint64 // records that another coordinator wrote

	// Replies and requests that were dropped, by cause.
	Late       uint64 // their record was committed, or has its target
	Duplicate  uint64 // the device had replied already
	Unsampled  uint64 // the device was not asked
	Unknown    uint64 // the device has no slot, or was retired
	Malformed  uint64 // not a frame, or from an invalid id
	NonFinite  uint64 // a NaN or an infinity
	TooLarge   uint64 // |g|, or an element of a vector, above the plan's MaxScalar
	WrongCount uint64 // not as many scalars, elements or metrics as asked for

	// WrongControl: a control variate that cannot count: it is missing in a round of two phases, lies
	// along a record that is not a round on the log's path, has another number of scalars than that
	// record, is not finite, or is too large.
	WrongControl uint64

	WrongSurvey uint64 // a round's scalars for a survey, or the reverse, or those of another survey
	WrongGroup  uint64 // scalars along the directions of another group than the device's
	WrongDigest uint64 // a vector without the digest that its device gave
	WrongTip    uint64 // computed from a state that is not of this log
	OtherRecord uint64 // a reply to a record for which nobody was asked
	Overflow    uint64 // more than the coordinator's queues, or a record, can hold
	Stale       uint64 // requests whose devices no longer wait
	NotAllowed  uint64 // joins of ids that the coordinator was told not to admit
}

// Faulty counts the dropped messages that no honest device sends.
func (n *Counters) Faulty() uint64 {
	return n.Malformed + n.NonFinite + n.TooLarge + n.WrongCount + n.WrongControl + n.WrongSurvey +
		n.WrongGroup + n.WrongDigest
}

// Messages counts the messages that were handled. Each message is in exactly one counter: the
// counter of its kind, or of the reason why it was dropped. A vector's last piece counts as its
// contribution.
func (c Counters) Messages() uint64 {
	return c.Contributions + c.Evaluations + c.Declines + c.Goodbyes + c.Digests + c.Joins +
		c.Repeated + c.CatchUps + c.CatchUpErrors + c.Objects + c.ObjectErrors + c.Pieces + c.Busy +
		c.Dropped()
}

// A Drop counts the replies and requests that were dropped for one cause.
type Drop struct {
	Cause string // the counter's name, in words
	Count uint64
}

// Drops returns all causes, in the order of the counters.
func (c Counters) Drops() []Drop {
	return []Drop{
		{"late", c.Late}, {"duplicate", c.Duplicate}, {"unsampled", c.Unsampled},
		{"unknown", c.Unknown},
		{"malformed", c.Malformed}, {"non-finite", c.NonFinite}, {"too large", c.TooLarge},
		{"wrong count", c.WrongCount}, {"wrong control", c.WrongControl},
		{"wrong survey", c.WrongSurvey}, {"wrong group", c.WrongGroup},
		{"wrong digest", c.WrongDigest}, {"wrong tip", c.WrongTip},
		{"other record", c.OtherRecord}, {"overflow", c.Overflow}, {"stale", c.Stale},
		{"not allowed", c.NotAllowed},
	}
}

// Dropped is the number of replies and requests that were dropped.
func (c Counters) Dropped() (sum uint64) {
	for _, d := range c.Drops() {
		sum += d.Count
	}
	return sum
}
