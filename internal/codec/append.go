package codec

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// AppendUint appends an unsigned integer.
func AppendUint(b []byte, v uint64) []byte {
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

// AppendFinite appends v, which must be finite, for [Reader.Finite]. AppendFinite writes -0 as 0.
func AppendFinite(b []byte, v float32) []byte {
	if v == 0 {
		v = 0
	}
	return AppendFloat(b, v)
}

// AppendFloat appends a float32 with any bits.
func AppendFloat(b []byte, v float32) []byte {
	return binary.BigEndian.AppendUint32(append(b, msgpcode.Float), math.Float32bits(v))
}

// AppendDouble appends a float64, which must be finite, for [Reader.Double]. AppendDouble writes -0
// as 0.
func AppendDouble(b []byte, v float64) []byte {
	if v == 0 {
		v = 0
	}
	return binary.BigEndian.AppendUint64(append(b, msgpcode.Double), math.Float64bits(v))
}

// appendLength writes the head of a value of length n in the shortest form that holds n. The forms
// are fix, 8 bits (if the type has that form), 16 bits and 32 bits.
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

// AppendArray appends the head of an array. The caller must append the n elements.
func AppendArray(b []byte, n int) []byte {
	return appendLength(b, n, msgpcode.FixedArrayLow, 15, 0, msgpcode.Array16, msgpcode.Array32)
}

// AppendMap appends the head of a map. The caller must append the n keys, each with its value.
func AppendMap(b []byte, n int) []byte {
	return appendLength(b, n, msgpcode.FixedMapLow, 15, 0, msgpcode.Map16, msgpcode.Map32)
}

// AppendBin appends a byte string.
func AppendBin(b, p []byte) []byte {
	b = appendLength(b, len(p), 0, -1, msgpcode.Bin8, msgpcode.Bin16, msgpcode.Bin32)
	return append(b, p...)
}

// AppendString appends s, which must be valid UTF-8.
func AppendString(b []byte, s string) []byte {
	b = appendLength(b, len(s), msgpcode.FixedStrLow, 31,
		msgpcode.Str8, msgpcode.Str16, msgpcode.Str32)
	return append(b, s...)
}

// AppendText appends a text for people, such as an error. So that a decoder accepts the text,
// AppendText makes it valid UTF-8 and cuts it to max bytes.
func AppendText(b []byte, s string, max int) []byte {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > max {
		end := max
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	return AppendString(b, s)
}
