package codec

import (
	"math"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Uint reads an unsigned integer of at most max.
func (r *Reader) Uint(field string, max uint64) uint64 {
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
			r.Fail(field, ErrForm)
		}
	}
	switch {
	case r.err != nil:
		return 0
	case v < least:
		r.Fail(field, ErrForm)
		return 0
	case v > max:
		r.Fail(field, ErrLimit)
		return 0
	}
	return v
}

// Known reads the number of a choice. A number above last is ErrUpgrade.
func (r *Reader) Known(field string, last uint64) uint64 {
	v := r.Uint(field, math.MaxUint8)
	if v > last {
		r.Fail(field, ErrUpgrade)
		return 0
	}
	return v
}

// Float reads a float32; any bits are accepted.
func (r *Reader) Float(field string) float32 {
	if head := r.bigEndian(field, 1); r.err == nil && byte(head) != msgpcode.Float {
		r.Fail(field, ErrForm)
	}
	return math.Float32frombits(uint32(r.bigEndian(field, 4)))
}

// Finite reads a float32. NaN, infinities and -0 are ErrValue; -0 would be a second form of 0.
func (r *Reader) Finite(field string) float32 {
	v := r.Float(field)
	if v-v != 0 || math.Float32bits(v) == signBit {
		r.Fail(field, ErrValue)
		return 0
	}
	return v
}

// Double reads a float64. NaN, infinities and -0 are ErrValue.
func (r *Reader) Double(field string) float64 {
	if head := r.bigEndian(field, 1); r.err == nil && byte(head) != msgpcode.Double {
		r.Fail(field, ErrForm)
	}
	v := math.Float64frombits(r.bigEndian(field, 8))
	if v-v != 0 || v == 0 && math.Signbit(v) {
		r.Fail(field, ErrValue)
		return 0
	}
	return v
}

// Bin reads a byte string of at most max bytes. The result shares the frame's memory.
func (r *Reader) Bin(field string, max int) []byte {
	n := r.length(field, max, 0, -1, msgpcode.Bin8, msgpcode.Bin16, msgpcode.Bin32)
	return r.take(field, n)
}

// String reads valid UTF-8 of at most max bytes.
func (r *Reader) String(field string, max int) string {
	n := r.length(field, max, msgpcode.FixedStrLow, 31,
		msgpcode.Str8, msgpcode.Str16, msgpcode.Str32)
	p := r.take(field, n)
	if !utf8.Valid(p) {
		r.Fail(field, ErrValue)
		return ""
	}
	return string(p)
}

// length reads a head that appendLength wrote, and returns the length.
func (r *Reader) length(field string, max int, fix byte, fixMax int, c8, c16, c32 byte) int {
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
		r.Fail(field, ErrForm)
	}
	switch {
	case r.err != nil:
		return 0
	case v < least:
		r.Fail(field, ErrForm)
		return 0
	case v > uint64(max):
		r.Fail(field, ErrLimit)
		return 0
	}
	return int(v)
}
