package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

// State says what a run is doing.
type State uint8

const (
	Open   State = 0 // the announced round collects replies
	Paused State = 1 // no round is open; Reason says why
	Ended  State = 2 // the last record is an end
)

func (s State) String() string { return codec.Name([]string{"open", "paused", "ended"}, int(s)) }

// An Announcement opens record N and carries records before it. The first announcement of an N
// carries the records that no earlier announcement carried. Usually that is record N-1 alone, and
// an up-to-date device needs no other record. The coordinator repeats an announcement while replies
// are missing, see [Announcement.RepeatAfter]. A repetition of an announcement carries record N-1.
// Announcements of later attempts, of a restarted coordinator, or without a round also carry as
// many earlier records as fit the plan's AnnounceBudget.
type Announcement struct {
	State   State
	N       uint64 // the record being made
	Attempt uint32 // from 0; each attempt samples another cohort
	Epoch   uint64 // of the coordinator; devices ignore lower epochs
	Left    uint64 // milliseconds until the round closes
	Cohort  Cohort

	StepSize      float32 // eta of this round
	Perturbations uint32  // P of this round

	Reason  string  // Paused: why; cut to MaxReason bytes
	Records Records // ascending, the last is N-1
	Rest    []byte  // fields of later versions
}

// Append appends the encoding of a to b: the array [version, state, n,
// attempt, epoch, left, sampled, members, step, perturbations, reason,
// records], then Rest.
func (a *Announcement) Append(b []byte) []byte {
	b = codec.AppendArray(b, 12)
	b = codec.AppendUint(append(b, FrameVersion), uint64(a.State))
	b = codec.AppendUint(b, a.N)
	b = codec.AppendUint(b, uint64(a.Attempt))
	b = codec.AppendUint(b, a.Epoch)
	b = codec.AppendUint(b, a.Left)
	b = codec.AppendUint(b, a.Cohort.Sampled)
	b = codec.AppendUint(b, uint64(a.Cohort.Members))
	b = codec.AppendFinite(b, a.StepSize)
	b = codec.AppendUint(b, uint64(a.Perturbations))
	b = codec.AppendText(b, a.Reason, MaxReason)
	b = a.Records.append(b)
	return append(b, a.Rest...)
}

// DecodeAnnouncement reads an announcement. Its records and Rest alias b. DecodeAnnouncement checks
// only the form of the records; [DecodeRecord] reads them.
func DecodeAnnouncement(b []byte) (Announcement, error) {
	d := newReader("announcement", b)
	d.Head(FrameVersion, 12)
	a := Announcement{
		State:   State(d.Known("state", uint64(Ended))),
		N:       d.Uint("n", math.MaxInt64),
		Attempt: uint32(d.Uint("attempt", math.MaxUint32)),
		Epoch:   d.Uint("epoch", math.MaxInt64),
		Left:    d.Uint("left", math.MaxUint32),
		Cohort: Cohort{
			Sampled: d.Uint("sampled", FullThreshold),
			Members: uint32(d.Uint("members", plan.MaxMembers)),
		},
		StepSize:      d.Finite("step"),
		Perturbations: uint32(d.Uint("perturbations", math.MaxUint16)),
		Reason:        d.String("reason", MaxReason),
		Records:       d.records(),
		Rest:          d.Rest(),
	}
	d.Positive("n", a.N)
	if !d.OK() {
		return Announcement{}, d.err()
	}
	return a, nil
}

// seldom is the longest time between announcements of an open round, as a multiple of the plan's
// reannounce interval.
const seldom = 12

// RepeatAfter returns how many milliseconds after a the coordinator announces again, if nothing
// else makes it announce earlier: reannounce, the interval of the plan. While a round is open,
// RepeatAfter returns the larger of reannounce and twice the time that the attempt has lasted, at
// most 12 times reannounce. So announcements of a long round cost few bytes. before is how long the
// last contribution to the record before took, in milliseconds; 0: that is unknown, or a is not of
// the first attempt. Devices work about as long on this record, so nobody is missed until half as
// much time again has passed: before that, RepeatAfter returns a longer time.
func (a *Announcement) RepeatAfter(reannounce, deadline uint32, before uint64) uint64 {
	every := uint64(reannounce)
	if a.State != Open {
		return every
	}
	lasted := uint64(deadline) - min(a.Left, uint64(deadline))
	works := before + before/2
	return min(max(every, 2*lasted, works-min(lasted, works)), seldom*every)
}

// Records is a list of encoded records inside a frame: an array of byte strings. The decoder has
// checked the form of the array.
type Records struct {
	n   int
	raw []byte // the elements, without the array's head
}

// Add appends an encoded record.
func (r *Records) Add(record []byte) {
	r.n++
	r.raw = codec.AppendBin(r.raw, record)
}

// Len returns the number of records.
func (r Records) Len() int { return r.n }

// Size returns the number of bytes of r in a frame.
func (r Records) Size() int { return len(r.append(nil)) }

// Each calls f with each record, until f returns false. The bytes alias the frame from which r
// came.
func (r Records) Each(f func(record []byte) bool) {
	d := reader{codec.NewReader("records", r.raw)}
	for range r.n {
		if p := d.Bin("record", MaxRecord); !d.OK() || !f(p) {
			return
		}
	}
}

func (r Records) append(b []byte) []byte {
	return append(codec.AppendArray(b, r.n), r.raw...)
}

// records checks the form of a list of records and returns it without copying.
func (d *reader) records() Records {
	n := d.Array("records", MaxFrame, 2)
	start := d.Rest()
	for range n {
		d.Bin("records", MaxRecord)
	}
	if !d.OK() {
		return Records{}
	}
	return Records{n: n, raw: start[:len(start)-len(d.Rest())]}
}
