package wire

import "math"

// ReplyKind says what a device sends.
type ReplyKind uint8

const (
	// Contribution: the scalars of a round.
	Contribution ReplyKind = 1
	// Evaluation: metrics of the state after record N.
	Evaluation ReplyKind = 2
	// Decline: the device will not contribute to record N; do not wait.
	Decline ReplyKind = 3
	// DigestReport: the digest of the device's state after record N.
	DigestReport ReplyKind = 4
)

func (k ReplyKind) String() string {
	return enumName([]string{"", "contribution", "evaluation", "decline", "digest"}, int(k))
}

// DeclineReason says why a device sits a round out.
type DeclineReason uint8

const (
	DeclinePolicy   DeclineReason = 1 // the app's policy says not now
	DeclineTime     DeclineReason = 2 // it cannot make the deadline
	DeclineLoss     DeclineReason = 3 // the loss failed, or was not finite
	DeclineBusy     DeclineReason = 4 // an earlier loss call has not returned
	DeclineTooLarge DeclineReason = 5 // a scalar was above Plan.MaxScalar
)

func (r DeclineReason) String() string {
	return enumName([]string{"", "policy", "time", "loss failed", "busy", "scalar too large"}, int(r))
}

// A Reply is what a device sends about record N, keyed by (N, Tip), not by
// attempt or epoch: what a device computes depends on N and the log before it
// only, so a reply to an earlier attempt counts.
//
// Contribution: Tip is that of record N-1; Weight counts samples; Loss is the
// device's own mean training loss, for people; Values are g[k*P+p].
// Evaluation: Tip is that of record N; Weight counts samples; Loss is unused;
// Values are the plan's metrics in order. Decline: Reason. DigestReport: Tip is
// that of record N, Digest the first 8 bytes of the state's digest.
type Reply struct {
	Kind   ReplyKind
	N      uint64
	Tip    Tip
	Weight uint32
	Loss   float32
	Values Scalars
	Reason DeclineReason
	Digest [8]byte
	Rest   []byte // what later versions add
}

// Append appends the encoding of r to b without allocating if b has room: an
// array [version, kind, n, tip, ...] by kind, then Rest.
func (r *Reply) Append(b []byte) []byte {
	fields := 5
	switch r.Kind {
	case Contribution:
		fields = 7
	case Evaluation:
		fields = 6
	}
	b = appendArray(b, fields)
	b = append(b, FrameVersion, byte(r.Kind))
	b = appendUint(b, r.N)
	b = appendBin(b, r.Tip[:])
	switch r.Kind {
	case Contribution:
		b = appendFloat(appendUint(b, uint64(r.Weight)), r.Loss)
		b = appendBin(b, r.Values)
	case Evaluation:
		b = appendBin(appendUint(b, uint64(r.Weight)), r.Values)
	case Decline:
		b = append(b, byte(r.Reason))
	case DigestReport:
		b = appendBin(b, r.Digest[:])
	default:
		panic("wire: internal error: reply of no kind")
	}
	return append(b, r.Rest...)
}

// DecodeReply reads a reply without allocating; Values and Rest alias b. It
// accepts any float bits: who uses them checks them.
func DecodeReply(b []byte) (Reply, error) {
	d := reader{frame: "reply", b: b}
	if len(b) > MaxFrame {
		d.fail("reply", ErrLimit)
	}
	fields := d.length("reply", 15, 0x90, 15, 0, 0xdc, 0xdd)
	d.version(FrameVersion)
	var r Reply
	r.Kind = ReplyKind(d.uint("kind", math.MaxUint8))
	r.N = d.uint("n", math.MaxInt64)
	d.bytes("tip", r.Tip[:])
	want := 5
	switch r.Kind {
	case Contribution:
		want = 7
		r.Weight = uint32(d.uint("weight", MaxWeight))
		r.Loss = d.float("loss")
		r.Values = d.scalars("scalars", MaxScalars)
	case Evaluation:
		want = 6
		r.Weight = uint32(d.uint("weight", MaxWeight))
		r.Values = d.scalars("metrics", MaxMetrics)
	case Decline:
		r.Reason = DeclineReason(d.uint("reason", math.MaxInt8))
	case DigestReport:
		d.bytes("digest", r.Digest[:])
	default:
		d.fail("kind", ErrUpgrade)
	}
	if d.err == nil && fields != want {
		d.fail("reply", ErrForm)
	}
	r.Rest = d.rest()
	return r, d.err
}
