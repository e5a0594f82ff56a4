package wiretest

import (
	"encoding/binary"
	"math"
	"slices"
)

// A Value is an encoded msgpack value, or faulty bytes in place of a value.
type Value []byte

// Uint returns an unsigned integer in its shortest form.
func Uint(v uint64) Value {
	switch {
	case v < 0x80:
		return Value{byte(v)}
	case v <= math.MaxUint8:
		return Wide(0xcc, v)
	case v <= math.MaxUint16:
		return Wide(0xcd, v)
	case v <= math.MaxUint32:
		return Wide(0xce, v)
	}
	return Wide(0xcf, v)
}

// Wide returns a head byte, and a number in as many bytes as that head requires. The number is an
// integer or a length, and might also fit a shorter form.
func Wide(head byte, v uint64) Value {
	b := binary.BigEndian.AppendUint64(nil, v)
	return append(Value{head}, b[8-width(head):]...)
}

// width returns how many bytes the number after a head byte has.
func width(head byte) int {
	switch head {
	case 0xcc, 0xc4, 0xd9:
		return 1
	case 0xcd, 0xc5, 0xda, 0xdc, 0xde:
		return 2
	case 0xce, 0xc6, 0xdb, 0xdd, 0xdf, 0xca:
		return 4
	case 0xcf, 0xcb:
		return 8
	}
	panic("wiretest: head without a number")
}

// Float is a float32.
func Float(v float32) Value { return Wide(0xca, uint64(math.Float32bits(v))) }

// Bin is a byte string.
func Bin(p ...byte) Value { return append(length(len(p), 0, 0, 0xc4, 0xc5, 0xc6), p...) }

// Str is a string.
func Str(s string) Value { return append(length(len(s), 0xa0, 32, 0xd9, 0xda, 0xdb), s...) }

// Array is an array of values.
func Array(v ...Value) Value {
	return slices.Concat(append([]Value{length(len(v), 0x90, 16, 0, 0xdc, 0xdd)}, v...)...)
}

// Map returns a map. The arguments are keys and values in turn.
func Map(v ...Value) Value {
	return slices.Concat(append([]Value{length(len(v)/2, 0x80, 16, 0, 0xde, 0xdf)}, v...)...)
}

// length returns the shortest head of a value of length n: fix|n if n is below fixEnd, and
// otherwise 8 bits if there is such a form, 16 bits or 32 bits.
func length(n int, fix byte, fixEnd int, c8, c16, c32 byte) Value {
	switch {
	case n < fixEnd:
		return Value{fix | byte(n)}
	case c8 != 0 && n <= math.MaxUint8:
		return Wide(c8, uint64(n))
	case n <= math.MaxUint16:
		return Wide(c16, uint64(n))
	}
	return Wide(c32, uint64(n))
}

// Floats are scalars of single precision: a byte string of little-endian float32.
func Floats(v ...float32) Value {
	var p []byte
	for _, x := range v {
		p = binary.LittleEndian.AppendUint32(p, math.Float32bits(x))
	}
	return Bin(p...)
}

// Seq returns n bytes: first, first+1, and so on.
func Seq(first byte, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = first + byte(i)
	}
	return p
}
