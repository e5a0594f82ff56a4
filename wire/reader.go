package wire

import (
	"math"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// A reader walks one frame. After the first fault all reads return zero, and err
// names the field that was being read.
type reader struct {
	frame string
	b     []byte // the bytes that remain
	err   error
}

func (r *reader) fail(field string, err error) {
	if r.err == nil {
		r.err = &DecodeError{Frame: r.frame, Field: field, Err: err}
		r.b = nil
	}
}

// take returns the next n bytes, or nil after a fault.
func (r *reader) take(field string, n int) []byte {
	if r.err != nil {
		return nil
	}
	if n > len(r.b) {
		r.fail(field, ErrTruncated)
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// bigEndian reads n (1, 2, 4 or 8) bytes as an unsigned integer.
func (r *reader) bigEndian(field string, n int) uint64 {
	var v uint64
	for _, c := range r.take(field, n) {
		v = v<<8 | uint64(c)
	}
	return v
}

// uint reads an unsigned integer of at most max.
func (r *reader) uint(field string, max uint64) uint64 {
	head := r.bigEndian(field, 1)
	v, least := head, uint64(0)
	switch byte(head) {
	case msgpcode.Uint8:
		v, least = r.bigEndian(field, 1), math.MaxInt8+1
	case msgpcode.Uint16:
		v, least = r.bigEndian(field, 2), math.MaxUint8+1
	case msgpcode.Uint32:
		v, least = r.bigEndian(field, 4), math.MaxUint16+1
	case msgpcode.Uint64:
		v, least = r.bigEndian(field, 8), math.MaxUint32+1
	default:
		if head > math.MaxInt8 {
			r.fail(field, ErrForm)
		}
	}
	switch {
	case r.err != nil:
		return 0
	case v < least:
		r.fail(field, ErrForm)
		return 0
	case v > max:
		r.fail(field, ErrLimit)
		return 0
	}
	return v
}

// float reads a float32; any bits are accepted.
func (r *reader) float(field string) float32 {
	if head := r.bigEndian(field, 1); r.err == nil && byte(head) != msgpcode.Float {
		r.fail(field, ErrForm)
	}
	return math.Float32frombits(uint32(r.bigEndian(field, 4)))
}

// finite reads a float32, but no NaN, infinity, or -0, which would be a second form
// of 0.
func (r *reader) finite(field string) float32 {
	v := r.float(field)
	if v-v != 0 || math.Float32bits(v) == signBit {
		r.fail(field, ErrValue)
		return 0
	}
	return v
}

// length reads what appendLength writes.
func (r *reader) length(field string, max int, fix byte, fixMax int, c8, c16, c32 byte) int {
	head := byte(r.bigEndian(field, 1))
	v, least := uint64(0), uint64(0)
	switch {
	case r.err != nil:
		return 0
	case fixMax >= 0 && head >= fix && head <= fix|byte(fixMax):
		v = uint64(head - fix)
	case c8 != 0 && head == c8:
		v, least = r.bigEndian(field, 1), uint64(fixMax+1)
	case head == c16:
		v, least = r.bigEndian(field, 2), uint64(fixMax+1)
		if c8 != 0 {
			least = math.MaxUint8 + 1
		}
	case head == c32:
		v, least = r.bigEndian(field, 4), math.MaxUint16+1
	default:
		r.fail(field, ErrForm)
	}
	switch {
	case r.err != nil:
		return 0
	case v < least:
		r.fail(field, ErrForm)
		return 0
	case v > uint64(max):
		r.fail(field, ErrLimit)
		return 0
	}
	return int(v)
}

// array reads the head of an array of at most max elements. Every element takes at
// least least bytes, so an array that claims more than the bytes that remain is
// truncated.
func (r *reader) array(field string, max, least int) int {
	n := r.length(field, max, msgpcode.FixedArrayLow, 15, 0, msgpcode.Array16, msgpcode.Array32)
	if n > len(r.b)/least {
		r.fail(field, ErrTruncated)
		return 0
	}
	return n
}

// tuple reads the head of an array of exactly n elements.
func (r *reader) tuple(field string, n int) {
	if got := r.array(field, maxFields, 1); r.err == nil && got != n {
		r.fail(field, ErrForm)
	}
}

// maxFields bounds the fields of a frame of any version.
const maxFields = math.MaxUint16

// head reads the head of a frame of n fields and its first field, the version. It
// checks the version before the number of fields, since that may differ in another
// version.
func (r *reader) head(version uint64, n int) {
	if got := r.versioned(version); r.err == nil && got != n {
		r.fail(r.frame, ErrForm)
	}
}

// versioned reads the head of a frame and its version, and returns its number of
// fields.
func (r *reader) versioned(version uint64) int {
	n := r.array(r.frame, maxFields, 1)
	if r.err == nil && n == 0 {
		r.fail(r.frame, ErrForm)
	}
	if v := r.uint("version", math.MaxUint64); r.err == nil && v != version {
		r.fail("version", ErrUpgrade)
	}
	return n
}

func (r *reader) mapLen(field string, max int) int {
	n := r.length(field, max, msgpcode.FixedMapLow, 15, 0, msgpcode.Map16, msgpcode.Map32)
	if n > len(r.b)/2 {
		r.fail(field, ErrTruncated)
		return 0
	}
	return n
}

// bin reads a byte string of at most max bytes. The result aliases the frame.
func (r *reader) bin(field string, max int) []byte {
	n := r.length(field, max, 0, -1, msgpcode.Bin8, msgpcode.Bin16, msgpcode.Bin32)
	return r.take(field, n)
}

// bytes reads a byte string of exactly len(dst) bytes into dst.
func (r *reader) bytes(field string, dst []byte) {
	p := r.bin(field, MaxFrame)
	if r.err == nil && len(p) != len(dst) {
		r.fail(field, ErrForm)
	}
	copy(dst, p)
}

// string reads valid UTF-8 of at most max bytes.
func (r *reader) string(field string, max int) string {
	n := r.length(field, max, msgpcode.FixedStrLow, 31,
		msgpcode.Str8, msgpcode.Str16, msgpcode.Str32)
	p := r.take(field, n)
	if !utf8.Valid(p) {
		r.fail(field, ErrValue)
		return ""
	}
	return string(p)
}

// known reads the number of a choice; one above last is ErrUpgrade.
func (r *reader) known(field string, last uint64) uint64 {
	v := r.uint(field, math.MaxUint8)
	if v > last {
		r.fail(field, ErrUpgrade)
		return 0
	}
	return v
}

// positive refuses a zero where the field cannot have one.
func (r *reader) positive(field string, v uint64) {
	if v == 0 {
		r.fail(field, ErrValue)
	}
}

// rest returns the bytes after the known fields, or nil.
func (r *reader) rest() []byte {
	if len(r.b) == 0 {
		return nil
	}
	return r.b
}

// end refuses bytes after the known fields.
func (r *reader) end() {
	if r.err == nil && len(r.b) > 0 {
		r.fail("trailing bytes", ErrForm)
	}
}

// scalars reads at most max scalars of either width. The result aliases the frame.
func (r *reader) scalars(field string, max int) Scalars {
	p := r.bin(field, 4*max)
	if len(p)%2 != 0 {
		r.fail(field, ErrForm)
		return nil
	}
	return Scalars(p)
}

// floats reads at most max scalars of 4 bytes each. The result aliases the frame.
func (r *reader) floats(field string, max int) Scalars {
	s := r.scalars(field, max)
	if len(s)%4 != 0 {
		r.fail(field, ErrForm)
		return nil
	}
	return s
}
