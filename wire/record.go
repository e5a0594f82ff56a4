package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

// RecordKind says what a record does to the state.
type RecordKind uint8

const (
	// KindPlan is record 1 alone: it holds the plan of the run.
	KindPlan RecordKind = 1
	// KindRound holds the aggregated contributions of a round, or of a phase.
	KindRound RecordKind = 2
	// KindChange gives fields of the plan new values from here on.
	KindChange RecordKind = 3
	// KindRollback returns to the state after an earlier record.
	KindRollback RecordKind = 4
	// KindEnd is the last record of a run.
	KindEnd RecordKind = 5
)

func (k RecordKind) String() string {
	return codec.Name([]string{"", "plan", "round", "change", "rollback", "end"}, int(k))
}

// A Record is one entry of a run's log: state(n) = Apply(state(n-1), record n).
//
// Invariants:
//  1. N is the record's position in the log, from 1, never reused.
//  2. Prev is the hash of record N-1, or Genesis of the run for N = 1.
//  3. Exactly one body is set, the one that Kind names; KindPlan if and only if N = 1.
type Record struct {
	N     uint64
	Prev  Hash
	Epoch uint64 // of the coordinator that wrote it

	Kind   RecordKind
	Plan   *plan.Plan   // KindPlan
	Round  *Round       // KindRound
	Change *plan.Change // KindChange
	To     uint64       // KindRollback: an earlier index
	End    *End         // KindEnd
}

// A Round is the result of a round. A Round holds all that a replica needs to apply the round: a
// replica computes no schedule and knows no roster.
type Round struct {
	Round         uint64   // for people: rounds count from 1 without gaps
	Attempt       uint32   // the attempt that closed the round, from 0
	StepSize      float32  // eta, the step size of the round
	Factor        float32  // on Plan.ServerStep, see [plan.Plan.FactorAt]; 0 and 1: none
	Perturbations uint32   // P, the directions of each step
	Contributors  uint32   // number of devices whose contributions counted
	Slots         []uint32 // slots of the contributors, if the record has to name them
	Terms         []Term

	Phase      uint8    // 0: the whole round; with two phases 1, then 2
	Weights    []uint32 // of each term, if Plan.RelaysWeights
	Population uint32   // with ScaffoldMean: devices of the run, from here on

	// Object is the digest, [HashObject], of the round's mean vector with DenseVectors; such a round
	// has no terms. Without DenseVectors, Object is empty.
	Object plan.Bytes
}

// A Term holds scalars along the directions of one record. Scalars[k*P+p] belongs to step k and
// perturbation p of record n-Back, along shared directions (Source 0) or the directions of slot
// Source-1. Most rounds have a single term, {0, 0, the mean}. Terms ascend by (Back, Source).
type Term struct {
	Back    uint64
	Source  uint32
	Scalars Scalars
}

// EndReason says why a run ended.
type EndReason uint8

const (
	EndRequested EndReason = 1 // an operator ended it
	EndRounds    EndReason = 2 // Plan.Rounds rounds are done
	EndMetric    EndReason = 3 // Plan.StopMetric reached Plan.StopValue
	EndDiverged  EndReason = 4 // the loss left the bounds of Plan.Diverge; only in old logs
	EndPatience  EndReason = 6 // Plan.Best has not become better in Plan.Patience evaluations
)

// unusedReason is never assigned: a test vector has it as an unknown reason.
const unusedReason EndReason = 5

func (r EndReason) String() string {
	return codec.Name([]string{"", "requested", "rounds", "metric", "diverged", "", "patience"},
		int(r))
}

// An End is the body of a run's last record.
type End struct {
	Reason EndReason
	Text   string // for people; cut to MaxReason bytes
}

// Keys of the map in a record's body.
const (
	keyRound = iota + 1
	keyAttempt
	keyStep
	keyPerturbations
	keyContributors
	keySlots
	keyTerms
	_ // 8 was reserved for a name of the object; its digest names it
	keyObject
	keyPhase
	keyWeights
	keyPopulation
	_ // 13 is never assigned: a test vector has it as an unknown key
	keyFactor
)

const (
	keyTo     = 1 // rollback
	keyReason = 1 // end
	keyText   = 2
)

// Append appends the encoding of r to b: the array [version, kind, n, prev, epoch, body]. body is a
// map of the fields that are not zero, by ascending key. r must satisfy the invariants of [Record].
func (r *Record) Append(b []byte) []byte {
	b = codec.AppendArray(b, 6)
	b = append(b, RecordVersion, byte(r.Kind))
	b = codec.AppendUint(b, r.N)
	b = codec.AppendBin(b, r.Prev[:])
	b = codec.AppendUint(b, r.Epoch)
	switch r.Kind {
	case KindPlan:
		return r.Plan.Append(b)
	case KindRound:
		return r.Round.append(b)
	case KindChange:
		return r.Change.Append(b)
	case KindRollback:
		return codec.AppendUint(append(codec.AppendMap(b, 1), keyTo), r.To)
	case KindEnd:
		return r.End.append(b)
	}
	panic("wire: internal error: record of no kind")
}

// DecodeRecord reads one record. [Record.Append] encodes the record to the same bytes. The scalars
// of the result alias b. DecodeRecord does not check that a plan can run: package plan/valid does.
func DecodeRecord(b []byte) (Record, error) {
	var r Record
	err := r.Decode(b)
	return r, err
}

// Decode sets r to the record that [DecodeRecord] reads. Decode reuses the memory of r.Round and
// its Slots, Terms, Weights and Object, so a caller that decodes many records into one r allocates
// that memory only once. After an error r is empty but keeps the memory.
func (r *Record) Decode(b []byte) error {
	d := &reader{codec.NewReader("record", b)}
	if len(b) > MaxRecord {
		d.Fail("record", ErrLimit)
	}
	round := r.Round
	*r = Record{}
	d.Head(RecordVersion, 6)
	r.Kind = RecordKind(d.Known("kind", uint64(KindEnd)))
	r.N = d.Uint("n", math.MaxInt64)
	d.bytes("prev", r.Prev[:])
	r.Epoch = d.Uint("epoch", math.MaxInt64)
	if d.OK() && (r.N == 0 || (r.Kind == KindPlan) != (r.N == 1)) {
		d.Fail("n", ErrValue)
	}
	d.body(r, round)
	d.End()
	if !d.OK() {
		*r = Record{Round: round}
	}
	return d.err()
}

// body reads the body of r.Kind. round is memory for the body of a round, or nil.
func (d *reader) body(r *Record, round *Round) {
	if !d.OK() {
		return
	}
	switch r.Kind {
	case KindPlan:
		d.Part("plan", func(b []byte) (rest []byte, err error) {
			r.Plan, rest, err = plan.Decode(b)
			return rest, err
		})
	case KindRound:
		r.Round = d.round(r.N, round)
	case KindChange:
		d.Part("body", func(b []byte) (rest []byte, err error) {
			r.Change, rest, err = plan.DecodeChange(b)
			return rest, err
		})
	case KindRollback:
		d.Keys("body", func(key uint64) bool {
			if key == keyTo {
				r.To = d.Uint("to", math.MaxInt64)
			}
			return key == keyTo
		})
		if r.To == 0 || r.To >= r.N {
			d.Fail("to", ErrValue)
		}
	case KindEnd:
		r.End = d.runEnd()
	default:
		d.Fail("kind", ErrValue)
	}
}

func (e *End) append(b []byte) []byte {
	n := 1
	if e.Text != "" {
		n = 2
	}
	b = codec.AppendUint(append(codec.AppendMap(b, n), keyReason), uint64(e.Reason))
	if e.Text == "" {
		return b
	}
	return codec.AppendText(append(b, keyText), e.Text, MaxReason)
}

func (d *reader) runEnd() *End {
	e := &End{}
	d.Keys("body", func(key uint64) bool {
		switch key {
		case keyReason:
			e.Reason = EndReason(d.Nonzero("reason", d.Known("reason", uint64(EndPatience))))
			if e.Reason == unusedReason {
				d.Fail("reason", ErrUpgrade)
			}
		case keyText:
			e.Text = d.String("text", MaxReason)
			d.Nonzero("text", uint64(len(e.Text)))
		}
		return key <= keyText
	})
	if e.Reason == 0 {
		d.Fail("reason", ErrForm)
	}
	return e
}
