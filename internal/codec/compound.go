package codec

import (
	"math"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// MaxFields bounds the fields of a frame of any version.
const MaxFields = math.MaxUint16

// Array reads the head of an array and returns its number of elements, at most max. least, at least
// 1, is the smallest number of bytes that an element takes. If the remaining bytes cannot hold the
// claimed elements, Array returns ErrTruncated.
func (r *Reader) Array(field string, max, least int) int {
	n := r.length(field, max, msgpcode.FixedArrayLow, 15, 0, msgpcode.Array16, msgpcode.Array32)
	if n > len(r.b)/least {
		r.Fail(field, ErrTruncated)
		return 0
	}
	return n
}

// Tuple reads the head of an array of exactly n elements.
func (r *Reader) Tuple(field string, n int) {
	if got := r.Array(field, MaxFields, 1); r.err == nil && got != n {
		r.Fail(field, ErrForm)
	}
}

// Head reads the head of a frame of n fields and its first field, the version. Head checks the
// version before the number of fields, because another version may have another number of fields. A
// version other than the given one is ErrUpgrade.
func (r *Reader) Head(version uint64, n int) {
	if got := r.Versioned(version); r.err == nil && got != n {
		r.Fail(r.frame, ErrForm)
	}
}

// Versioned reads the head of a frame and its version, and returns its number of
// fields.
func (r *Reader) Versioned(version uint64) int {
	n := r.Array(r.frame, MaxFields, 1)
	if r.err == nil && n == 0 {
		r.Fail(r.frame, ErrForm)
	}
	if v := r.Uint("version", math.MaxUint64); r.err == nil && v != version {
		r.Fail("version", ErrUpgrade)
	}
	return n
}

// Keys reads a map of at most 255 keys, in ascending order, from 1 on. Keys calls read with each
// key. read must read the value, or return false for an unknown key; then the fault is ErrUpgrade.
func (r *Reader) Keys(field string, read func(key uint64) bool) {
	last := uint64(0)
	for range r.mapLen(field, math.MaxUint8) {
		key := r.Uint(field, math.MaxInt64)
		if r.err == nil && key <= last {
			r.Fail(field, ErrForm)
		}
		last = key
		if r.err == nil && !read(key) {
			r.Fail(field, ErrUpgrade)
		}
		if r.err != nil {
			return
		}
	}
}

// mapLen reads the head of a map of at most max keys.
func (r *Reader) mapLen(field string, max int) int {
	n := r.length(field, max, msgpcode.FixedMapLow, 15, 0, msgpcode.Map16, msgpcode.Map32)
	if n > len(r.b)/2 {
		r.Fail(field, ErrTruncated)
		return 0
	}
	return n
}
