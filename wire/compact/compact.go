package compact

import (
	"bytes"
	"math"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Version is the version of the short form of an announcement, its second byte.
const Version = 3

// head is the head of a msgpack array with one element, the version of a frame in the short form.
// The bytes after it are no msgpack.
const head = 0x91

// flags of a frame.
const (
	flagAttempt = 1 << iota // of the announcement, if it is not 0
	flagRest                // Rest is not empty
	flagsEnd
)

// An Announcement is an announcement in either form.
type Announcement struct {
	wire.Announcement

	// Tip is the tip of record N-1. [Announcement.Record] returns that record. Tip is zero if the
	// announcement is not in the short form: then Records holds the announcement's records.
	Tip wire.Tip

	body  []byte
	frame []byte
}

// Compact reports whether the announcement came in the short form.
func (a *Announcement) Compact() bool { return a.body != nil }

// After returns how many bytes of the frame follow Rest: the bytes of the record in a frame of the
// short form.
func (a *Announcement) After() int { return len(a.body) }

// WithRest returns the frame with another Rest, in the same form.
func (a *Announcement) WithRest(rest []byte) []byte {
	other := a.Announcement
	other.Rest = rest
	if !a.Compact() {
		return other.Append(nil)
	}
	var w writer
	w.head(&other, a.Tip)
	return append(w.b, a.body...)
}

// Append appends the short form of an announcement that carries one round record, record a.N-1. a
// itself has no records. If the announcement has no short form, ok is false and frame is b.
func Append(b []byte, a *wire.Announcement, record []byte) (frame []byte, ok bool) {
	r, err := wire.DecodeRecord(record)
	if err != nil || r.Kind != wire.KindRound || r.N+1 != a.N || a.State != wire.Open ||
		a.Reason != "" || a.Records.Len() > 0 {
		return b, false
	}
	w := writer{b: bytes.Clone(b)}
	if !w.announcement(a, &r, wire.HashRecord(record).Tip()) {
		return b, false
	}
	// A short form would lose a field that this package does not know.
	back, err := Decode(w.b[len(b):])
	if err != nil {
		return b, false
	}
	if again, err := back.assemble(r.Prev); err != nil || !bytes.Equal(again, record) {
		return b, false
	}
	return w.b, true
}

// Parts counts the bytes of a frame in the short form by purpose.
type Parts struct {
	Scalars int // scalars of all terms
	Sources int // sources of the terms
	Weights int
	Steps   int // step sizes of the opened round and of the record; the factor
	Tip     int
	Fields  int // the announcement's other fields
	Record  int // the record's other fields
}

// Measure returns the parts of the frame that [Append] makes.
func Measure(a *wire.Announcement, record []byte) (p Parts, ok bool) {
	frame, ok := Append(nil, a, record)
	if !ok {
		return p, false
	}
	r, err := wire.DecodeRecord(record)
	if err != nil {
		panic("compact: internal error: a record that was encoded does not decode: " + err.Error())
	}
	w := writer{b: frame[:0]}
	w.announcement(a, &r, wire.Tip{})
	return w.parts, true
}

// Decode reads an announcement of either form. The result aliases frame. [Announcement.Record]
// reads the parts of the record that the short form holds. Errors are those of
// [wire.DecodeAnnouncement].
func Decode(frame []byte) (Announcement, error) {
	if len(frame) < 2 || frame[0] != head || frame[1] != Version {
		a, err := wire.DecodeAnnouncement(frame)
		return Announcement{Announcement: a}, err
	}
	a := Announcement{frame: frame}
	r := reader{b: frame[2:]}
	if len(frame) > wire.MaxFrame {
		r.fail("announcement", wire.ErrLimit)
	}
	r.announcement(&a)
	if r.err != nil {
		return Announcement{}, r.fault()
	}
	return a, nil
}

// Record returns record N-1 as the log holds it, for a reader whose record N-2 has the hash prev.
// The error is a *wire.DecodeError. The error matches [wire.ErrValue] if the record does not follow
// prev: the reader has another log, or the frame is forged.
func (a *Announcement) Record(prev wire.Hash) ([]byte, error) {
	record, err := a.assemble(prev)
	if err != nil {
		return nil, err
	}
	if wire.HashRecord(record).Tip() != a.Tip {
		return nil, &wire.DecodeError{Frame: frameName, Field: "tip", Err: wire.ErrValue}
	}
	return record, nil
}

// assemble returns record N-1 without comparing its hash.
func (a *Announcement) assemble(prev wire.Hash) ([]byte, error) {
	record, err := a.Read()
	if err != nil {
		return nil, err
	}
	record.Prev = prev
	return record.Append(nil), nil
}

// Read returns record N-1 without its Prev, and so without proof that the record is in the log.
// Read serves programs that count bytes. The record's scalars alias the frame. The error is a
// *wire.DecodeError.
func (a *Announcement) Read() (wire.Record, error) {
	d := reader{b: a.body}
	record := d.record(a)
	if d.err == nil && len(d.b) > 0 {
		d.fail("trailing bytes", wire.ErrForm)
	}
	if d.err != nil {
		return wire.Record{}, d.fault()
	}
	// Read refuses other encodings of the same record.
	w := writer{b: make([]byte, 0, len(a.frame))}
	if !w.announcement(&a.Announcement, &record, a.Tip) || !bytes.Equal(w.b, a.frame) {
		d.fail("record", wire.ErrForm)
		return wire.Record{}, d.fault()
	}
	return record, nil
}

// announcement writes a frame, or returns false if the record has no short form.
func (w *writer) announcement(a *wire.Announcement, r *wire.Record, tip wire.Tip) bool {
	w.head(a, tip)
	return w.record(a, r)
}

// head writes the bytes before the record.
func (w *writer) head(a *wire.Announcement, tip wire.Tip) {
	flags := byte(0)
	if a.Attempt > 0 {
		flags |= flagAttempt
	}
	if len(a.Rest) > 0 {
		flags |= flagRest
	}
	w.b = append(w.b, head, Version, flags)
	w.uint(a.N)
	w.uint(a.Epoch)
	if a.Attempt > 0 {
		w.uint(uint64(a.Attempt))
	}
	w.uint(a.Left)
	w.uint(a.Cohort.Sampled)
	w.uint(uint64(a.Cohort.Members))
	w.is(&w.parts.Fields)
	w.float(a.StepSize)
	w.is(&w.parts.Steps)
	w.uint(uint64(a.Perturbations))
	w.is(&w.parts.Fields)
	w.b = append(w.b, tip[:]...)
	w.is(&w.parts.Tip)
	if len(a.Rest) > 0 {
		w.uint(uint64(len(a.Rest)))
		w.b = append(w.b, a.Rest...)
	}
	w.is(&w.parts.Fields)
}

// announcement reads the bytes before the record.
func (r *reader) announcement(a *Announcement) {
	flags := r.byte("flags")
	if flags >= flagsEnd {
		r.fail("flags", wire.ErrUpgrade)
	}
	a.N = r.uint("n", math.MaxInt64)
	a.Epoch = r.uint("epoch", math.MaxInt64)
	if flags&flagAttempt != 0 {
		a.Attempt = uint32(r.positive("attempt", math.MaxUint32))
	}
	a.Left = r.uint("left", math.MaxUint32)
	a.Cohort.Sampled = r.uint("sampled", wire.FullThreshold)
	a.Cohort.Members = uint32(r.uint("members", plan.MaxMembers))
	a.StepSize = r.float("step")
	a.Perturbations = uint32(r.uint("perturbations", math.MaxUint16))
	copy(a.Tip[:], r.take("tip", len(a.Tip)))
	if flags&flagRest != 0 {
		a.Rest = r.take("rest", int(r.positive("rest", wire.MaxFrame)))
	}
	if r.err == nil && a.N < 3 { // record 1 is the plan
		r.fail("n", wire.ErrValue)
	}
	if r.err == nil && len(r.b) == 0 {
		r.fail("record", wire.ErrTruncated)
	}
	a.body = r.b
}
