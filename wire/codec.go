package wire

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Frames use a subset of msgpack: unsigned integers, float32, bin, str, arrays
// and maps, each in its shortest form.

func appendUint(b []byte, v uint64) []byte {
	switch {
	case v <= math.MaxInt8:
		return append(b, byte(v))
	case v <= math.MaxUint8:
		return append(b, msgpcode.Uint8, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, msgpcode.Uint16), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, msgpcode.Uint32), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, msgpcode.Uint64), v)
}

// signBit is the float32 -0.
const signBit = 1 << 31

// appendFinite writes a number for [reader.finite], with -0 as 0.
func appendFinite(b []byte, v float32) []byte {
	if v == 0 {
		v = 0
	}
	return appendFloat(b, v)
}

func appendFloat(b []byte, v float32) []byte {
	return binary.BigEndian.AppendUint32(append(b, msgpcode.Float), math.Float32bits(v))
}

// appendLength writes the head of a value of length n in the shortest form: fix
// if it fits, then 8 bits (if the type has that form), 16 bits, 32 bits.
func appendLength(b []byte, n int, fix byte, fixMax int, c8, c16, c32 byte) []byte {
	switch {
	case n <= fixMax:
		return append(b, fix|byte(n))
	case c8 != 0 && n <= math.MaxUint8:
		return append(b, c8, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, c16), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, c32), uint32(n))
}

func appendArray(b []byte, n int) []byte {
	return appendLength(b, n, msgpcode.FixedArrayLow, 15, 0, msgpcode.Array16, msgpcode.Array32)
}

func appendMap(b []byte, n int) []byte {
	return appendLength(b, n, msgpcode.FixedMapLow, 15, 0, msgpcode.Map16, msgpcode.Map32)
}

func appendBin(b, p []byte) []byte {
	b = appendLength(b, len(p), 0, -1, msgpcode.Bin8, msgpcode.Bin16, msgpcode.Bin32)
	return append(b, p...)
}

func appendString(b []byte, s string) []byte {
	b = appendLength(b, len(s), msgpcode.FixedStrLow, 31,
		msgpcode.Str8, msgpcode.Str16, msgpcode.Str32)
	return append(b, s...)
}

// appendText writes a text for people, such as an error, so that a decoder
// accepts it: made valid UTF-8, and cut to MaxReason bytes.
func appendText(b []byte, s string) []byte {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > MaxReason {
		end := MaxReason
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	return appendString(b, s)
}

// Scalars are encoded scalars, little-endian, one after the other, as wide as the
// plan's [Precision] says. Len and At read [Single] precision, float32; use the
// methods of Precision for any.
type Scalars []byte

// Len returns the number of scalars.
func (s Scalars) Len() int { return len(s) / 4 }

// At returns scalar i.
func (s Scalars) At(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(s[4*i:]))
}

// AppendScalars appends v to dst in [Single] precision.
func AppendScalars(dst Scalars, v ...float32) Scalars {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}
