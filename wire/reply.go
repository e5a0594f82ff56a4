package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

// ReplyKind says what a device sends.
type ReplyKind uint8

const (
	// Contribution: the scalars of a round.
	Contribution ReplyKind = 1
	// Evaluation: metrics of the state after record N.
	Evaluation ReplyKind = 2
	// Decline: the device will not contribute to record N, so the coordinator need not wait for the
	// device.
	Decline ReplyKind = 3
	// DigestReport: the digest of the device's state after record N.
	DigestReport ReplyKind = 4
)

func (k ReplyKind) String() string {
	return codec.Name([]string{"", "contribution", "evaluation", "decline", "digest"}, int(k))
}

// fields returns the number of fields of a reply: version, kind, n, tip, and the fields of its
// kind.
func (k ReplyKind) fields() int {
	switch k {
	case Contribution:
		return 4 + 3
	case Evaluation:
		return 4 + 2
	}
	return 4 + 1
}

// DeclineReason says why a device declines a round. Later versions may send other reasons.
type DeclineReason uint8

const (
	DeclinePolicy   DeclineReason = 1 // the app's policy says not now
	DeclineTime     DeclineReason = 2 // it cannot meet the deadline
	DeclineLoss     DeclineReason = 3 // the loss failed, or was not finite
	DeclineBusy     DeclineReason = 4 // an earlier loss call has not returned
	DeclineTooLarge DeclineReason = 5 // a scalar was above Plan.MaxScalar
	// DeclineLeaving: the device leaves the run, not only this record. The device keeps its slot. The
	// coordinator waits for the device in no round until the device joins again or replies.
	DeclineLeaving DeclineReason = 6
)

func (r DeclineReason) String() string {
	names := []string{"", "policy", "time", "loss failed", "busy", "scalar too large",
		"leaving", "unmasked before"}
	return codec.Name(names, int(r))
}

// A Reply is a device's message about record N. (N, Tip) identify what the device computed, without
// attempt or epoch. A device computes a reply only from N and the log before record N, so a reply
// to an earlier attempt counts.
//
//   - Contribution: Tip is the tip of record N-1; Weight counts samples; Loss is the device's own
//     training loss where the round begins, at or around the state after record N-1; Values are
//     g[k*P+p].
//   - Evaluation: Tip is the tip of record N; Weight counts samples; Loss is unused; Values are the
//     plan's metrics in order, in [plan.Single] precision.
//   - Decline: Tip is the tip of record N-1; Reason says why. Rest may begin with an [Away].
//   - DigestReport: Tip is the tip of record N; Digest is the first 8 bytes of the state's digest.
type Reply struct {
	Kind   ReplyKind
	N      uint64
	Tip    Tip
	Weight uint32 // 1..MaxWeight
	Loss   float32
	Values Scalars
	Reason DeclineReason
	Digest [8]byte
	Rest   []byte // fields of later versions
}

// Append appends the encoding of r to b: an array [version, kind, n, tip, ...], whose further
// fields depend on the kind, then Rest. Append does not allocate if b has room.
func (r *Reply) Append(b []byte) []byte {
	b = codec.AppendArray(b, r.Kind.fields())
	b = append(b, FrameVersion, byte(r.Kind))
	b = codec.AppendUint(b, r.N)
	b = codec.AppendBin(b, r.Tip[:])
	switch r.Kind {
	case Contribution:
		b = codec.AppendFloat(codec.AppendUint(b, uint64(r.Weight)), r.Loss)
		b = codec.AppendBin(b, r.Values)
	case Evaluation:
		b = codec.AppendBin(codec.AppendUint(b, uint64(r.Weight)), r.Values)
	case Decline:
		b = codec.AppendUint(b, uint64(r.Reason))
	case DigestReport:
		b = codec.AppendBin(b, r.Digest[:])
	default:
		panic("wire: internal error: reply of no kind")
	}
	return append(b, r.Rest...)
}

// DecodeReply reads a reply without allocating; Values and Rest alias b. DecodeReply accepts any
// float bits, also NaN and infinities: the caller must check the floats.
func DecodeReply(b []byte) (Reply, error) {
	d := reader{codec.NewReader("reply", b)}
	if len(b) > MaxFrame {
		d.Fail("reply", ErrLimit)
	}
	fields := d.Versioned(FrameVersion)
	var r Reply
	r.Kind = ReplyKind(d.Known("kind", uint64(DigestReport)))
	if d.OK() && fields != r.Kind.fields() {
		d.Fail("reply", ErrForm)
	}
	r.N = d.Uint("n", math.MaxInt64)
	d.Positive("n", r.N)
	d.bytes("tip", r.Tip[:])
	switch r.Kind {
	case Contribution:
		r.Weight = d.weight()
		r.Loss = d.Float("loss")
		r.Values = d.scalars("scalars", plan.MaxScalars)
	case Evaluation:
		r.Weight = d.weight()
		r.Values = d.floats("metrics", plan.MaxMetrics)
	case Decline:
		reason := d.Uint("reason", math.MaxUint8)
		d.Positive("reason", reason)
		r.Reason = DeclineReason(reason)
	case DigestReport:
		d.bytes("digest", r.Digest[:])
	default:
		d.Fail("kind", ErrValue)
	}
	r.Rest = d.Rest()
	if !d.OK() {
		return Reply{}, d.err()
	}
	return r, nil
}

func (d *reader) weight() uint32 {
	v := d.Uint("weight", plan.MaxWeight)
	d.Positive("weight", v)
	return uint32(v)
}
