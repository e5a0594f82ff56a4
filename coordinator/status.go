package coordinator

import (
	"github.com/zofl/zofl/coordinator/internal/serve"
	"github.com/zofl/zofl/wire"
)

// State says what a coordinator is doing.
type State uint8

const (
	Waiting State = 0 // for the members of the first round, or for the log
	Open    State = 1 // a round collects replies
	Paused  State = 2 // no round is opened until Resume, or until the log works
	Ended   State = 3 // the last record is an end
	Deposed State = 4 // another coordinator leads the run
)

func (s State) String() string {
	return [...]string{"waiting", "open", "paused", "ended", "deposed"}[s]
}

// MarshalText writes the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Status is a moment of a run.
type Status struct {
	Run    string
	State  State
	Reason string    // Paused: why
	End    *wire.End // Ended

	// LogError is why the log does not take a record at present, CatchUpError
	// why the last request failed that the log could not be read for.
	LogError, CatchUpError string
	ObjectError            string // why the last request for a vector failed

	N       uint64 // last record of the log
	Rounds  uint64 // rounds done
	Epoch   uint64
	Members uint32 // of a dense roster; of an open one, the devices it estimates

	// The open round.
	Phase         uint8 // 1 or 2 where rounds have two phases, otherwise 0
	Attempt       uint32
	Asked         uint32 // devices of the attempt's cohort, if the roster is dense
	Contributions uint32
	Declines      uint32 // in this attempt
	Uploads       uint32 // vectors that have arrived in part

	Loss       float32 // of the last round
	Evaluation Evaluation
	Digests    []DigestReports // of the last few states that were asked for
	Reference  *Reference      // what announcements bring; nil before the first
	Counters   Counters
}

// A Reference is what the run takes for the digest of the state after record N.
type Reference struct {
	N      uint64
	Digest Digest
}

// Counters count what arrived, since [New].
type Counters struct {
	Contributions uint64
	Evaluations   uint64
	Declines      uint64
	Digests       uint64
	Joins         uint64
	CatchUps      uint64 // that were answered
	CatchUpBytes  uint64 // of the answers
	CatchUpErrors uint64 // that were not, because the log could not be read

	// Of a run with wire.DenseVectors.
	UploadBytes  uint64 // of devices' vectors, whatever became of them
	Busy         uint64 // pieces of vectors that there was no place for yet
	Evicted      uint64 // vectors that fell silent, and gave their place to others
	Objects      uint64 // requests for records' vectors that were answered
	ObjectBytes  uint64 // of the answers
	ObjectErrors uint64 // requests that did not get a vector that the log should have

	Adopted uint64 // records that another coordinator had written

	// Replies and requests that were dropped, by cause.
	Late       uint64 // the record they are about was committed, or has its target
	Duplicate  uint64 // the device had replied
	Unsampled  uint64 // the device was not asked
	Unknown    uint64 // the device has no slot
	Malformed  uint64 // not a frame, or an id that cannot be one
	NonFinite  uint64 // a NaN or an infinity
	TooLarge   uint64 // |g|, or an element of a vector, above the plan's MaxScalar
	WrongCount uint64 // not the scalars or the vector that the record takes, or not the plan's metrics

	// WrongControl: a control variate that is missing where a round has two
	// phases, of a record that is no round of the log's path, of another number
	// of scalars than that record, not finite, or too large.
	WrongControl uint64

	WrongDigest uint64 // a vector that is not what its device says it is
	WrongTip    uint64 // made from a state that is not this log's
	OtherRecord uint64 // about a record that nobody asked for
	Overflow    uint64 // more than the coordinator's queues, or a record, hold
	Stale       uint64 // catch-ups whose devices have given up waiting
}

// addDrops adds requests that a service did not answer.
func (c *Counters) addDrops(served serve.Counts) {
	c.Stale += served.Stale
	c.Malformed += served.Garbled
	c.Overflow += served.Overflow
}

// A Drop is replies and requests that were dropped for one cause.
type Drop struct {
	Cause string // the counter's name, in words
	Count uint64
}

// Drops returns all causes, in the order of the counters.
func (c Counters) Drops() []Drop {
	return []Drop{
		{"late", c.Late}, {"duplicate", c.Duplicate}, {"unsampled", c.Unsampled}, {"unknown", c.Unknown},
		{"malformed", c.Malformed}, {"non-finite", c.NonFinite}, {"too large", c.TooLarge},
		{"wrong count", c.WrongCount}, {"wrong control", c.WrongControl},
		{"wrong digest", c.WrongDigest}, {"wrong tip", c.WrongTip},
		{"other record", c.OtherRecord}, {"overflow", c.Overflow}, {"stale", c.Stale},
	}
}

// Dropped is the number of replies and requests that were dropped.
func (c Counters) Dropped() (sum uint64) {
	for _, d := range c.Drops() {
		sum += d.Count
	}
	return sum
}
