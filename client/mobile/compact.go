package mobile

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/internal/half"
)

// Some engines take weights in fewer bits than float32 has. Then parameters are rounded on their
// way to the app, and its array is 2 or 4 times smaller.

const halfBytes = 2

// A form is how parameters are written: [readInto], [readHalf] or what [readInt8] returns.
type form func(dst []byte, off, dim int, read func(x []float32, off int) error) (int, error)

// readHalf is readInto for binary16.
func readHalf(dst []byte, off, dim int, read func(x []float32, off int) error) (int, error) {
	return readConverted(dst, halfBytes, off, dim, read, putHalves)
}

func putHalves(dst []byte, x []float32) {
	for i, v := range x {
		binary.LittleEndian.PutUint16(dst[halfBytes*i:], half.Of(v))
	}
}

// readInt8 returns readInto for multiples of a scale, a signed byte each.
func readInt8(scale float64) form {
	return func(dst []byte, off, dim int, read func(x []float32, off int) error) (int, error) {
		if !(scale > 0 && scale <= math.MaxFloat64) {
			return 0, faultf(CodeConfig, "scale = %v: give a positive finite number", scale)
		}
		return readConverted(dst, 1, off, dim, read, func(dst []byte, x []float32) {
			for i, v := range x {
				dst[i] = byte(int8Of(float64(v) / scale))
			}
		})
	}
}

// mostInt8 leaves out -128, so that a parameter and its negative have the same magnitude.
const mostInt8 = 127

// int8Of rounds to the nearest integer, of two the even one, within +-127; a NaN becomes 0.
func int8Of(x float64) int8 {
	if x != x {
		return 0
	}
	return int8(math.RoundToEven(min(max(x, -mostInt8), mostInt8)))
}

// readConverted writes parameters off, off+1, ... to dst, of width bytes each: as many as fit and
// exist. It returns how many. It gets them from read, a block at a time, and put converts them.
func readConverted(dst []byte, width, off, dim int, read func(x []float32, off int) error,
	put func(dst []byte, x []float32)) (int, error) {
	n, err := fitting(len(dst), width, off, dim)
	if err != nil || n == 0 {
		return 0, err
	}
	room := make([]float32, min(n, block))
	for at, count := 0, 0; at < n; at += count {
		count = min(n-at, block-(off+at)%block) // to begin within a block is slow, so do so once
		x := room[:count]
		if err := read(x, off+at); err != nil {
			return 0, err
		}
		put(dst[width*at:], x)
	}
	return n, nil
}

// fitting returns how many parameters from off on exist and fit in length bytes.
func fitting(length, width, off, dim int) (n int, err error) {
	if length%width != 0 {
		return 0, faultf(CodeConfig, "dst has %d bytes: give a multiple of %d, a parameter takes %[2]d",
			length, width)
	}
	if off < 0 || off > dim {
		return 0, faultf(CodeConfig, "off = %d: parameters are numbered from 0 to %d", off, dim-1)
	}
	return min(length/width, dim-off), nil
}
