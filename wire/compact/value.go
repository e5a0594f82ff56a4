package compact

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/wire"
)

const frameName = "short announcement"

// A writer appends the values of a frame: unsigned LEB128 numbers, and little-endian floats. The
// writer counts the bytes by their purpose.
type writer struct {
	b     []byte
	parts Parts
	done  int // bytes that are counted
}

// is adds to part the number of bytes written since the last call.
func (w *writer) is(part *int) {
	*part += len(w.b) - w.done
	w.done = len(w.b)
}

func (w *writer) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

func (w *writer) float(v float32) {
	w.b = binary.LittleEndian.AppendUint32(w.b, math.Float32bits(v))
}

// A reader reads the values that a writer appends, and refuses any other encoding of a value. After
// a fault the reader returns zeros.
type reader struct {
	b     []byte
	field string
	err   error
}

// fail notes the first fault.
func (r *reader) fail(field string, err error) {
	if r.err == nil {
		r.field, r.err, r.b = field, err, nil
	}
}

func (r *reader) fault() error {
	return &wire.DecodeError{Frame: frameName, Field: r.field, Err: r.err}
}

// uint reads a number of at most max.
func (r *reader) uint(field string, max uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	switch {
	case n == 0:
		r.fail(field, wire.ErrTruncated)
	case n < 0 || v > max:
		r.fail(field, wire.ErrLimit)
	case n > 1 && r.b[n-1] == 0:
		r.fail(field, wire.ErrForm)
	}
	if r.err != nil {
		return 0
	}
	r.b = r.b[n:]
	return v
}

// positive reads a number that must not be 0, because a flag says that the field is present, and
// zero fields are left out.
func (r *reader) positive(field string, max uint64) uint64 {
	v := r.uint(field, max)
	if v == 0 {
		r.fail(field, wire.ErrForm)
	}
	return v
}

func (r *reader) byte(field string) byte {
	p := r.take(field, 1)
	if r.err != nil {
		return 0
	}
	return p[0]
}

// take reads n bytes, which alias the frame.
func (r *reader) take(field string, n int) []byte {
	if n > len(r.b) {
		r.fail(field, wire.ErrTruncated)
	}
	if r.err != nil {
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// float reads a float that is finite, and not -0.
func (r *reader) float(field string) float32 {
	p := r.take(field, 4)
	if r.err != nil {
		return 0
	}
	v := math.Float32frombits(binary.LittleEndian.Uint32(p))
	if v-v != 0 || v == 0 && math.Signbit(float64(v)) {
		r.fail(field, wire.ErrValue)
		return 0
	}
	return v
}
