package mobile

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/zofl/zofl/internal/half"
)

// Some engines take weights in fewer bits than float32 has. For these engines the library rounds
// parameters as it writes them to the app's array. The array is then 2 or 4 times smaller.

const halfBytes = 2

// A form is an encoding of parameters. A form is a struct and not a function value, so that reading
// a block allocates nothing.
type form struct {
	width int     // bytes a parameter
	scale float64 // with width 1: a byte b stands for b*scale
}

var (
	floats = form{width: floatBytes}
	halves = form{width: halfBytes}
)

// multiples returns the form in which a signed byte b stands for b*scale.
func multiples(scale float64) form { return form{1, scale} }

// put writes x to dst.
func (f form) put(dst []byte, x []float32) {
	switch f.width {
	case floatBytes:
		putFloats(dst, x)
	case halfBytes:
		for i, v := range x {
			binary.LittleEndian.PutUint16(dst[halfBytes*i:], half.Of(v))
		}
	default:
		for i, v := range x {
			dst[i] = byte(int8Of(float64(v) / f.scale))
		}
	}
}

// mostInt8 limits bytes to -127..127, so that the bytes of a parameter and of its negative have the
// same magnitude.
const mostInt8 = 127

// int8Of rounds x to the nearest integer, ties to even, and limits it to +-127. NaN becomes 0.
func int8Of(x float64) int8 {
	if x != x {
		return 0
	}
	return int8(math.RoundToEven(min(max(x, -mostInt8), mostInt8)))
}

// read writes parameters off, off+1, ... to dst, as many as fit and exist, and returns their
// number. The function read supplies the parameters: floats directly into dst, other forms a block
// at a time.
//
//	for i := range min(len(dst)/width, dim-off) {
//		dst[width*i:width*(i+1)] = x[off+i]
//	}
func (f form) read(dst []byte, off, dim int, read func(x []float32, off int) error) (int, error) {
	n, err := f.fitting(len(dst), off, dim)
	if err != nil || n == 0 {
		return 0, err
	}
	if x := floatsOf(dst); f.width == floatBytes && x != nil {
		return n, read(x[:n], off)
	}
	room := rooms.Get().(*[block]float32)
	defer rooms.Put(room)
	for at, count := 0, 0; at < n; at += count {
		count = min(n-at, block-(off+at)%block) // reads that begin within a block are slow
		x := room[:count]
		if err := read(x, off+at); err != nil {
			return 0, err
		}
		f.put(dst[f.width*at:], x)
	}
	return n, nil
}

// rooms holds blocks of float32 for conversion.
var rooms = sync.Pool{New: func() any { return new([block]float32) }}

// fitting returns how many parameters from off on exist and fit in length bytes.
func (f form) fitting(length, off, dim int) (n int, err error) {
	width := f.width
	if width == 1 && !(f.scale > 0 && f.scale <= math.MaxFloat64) {
		return 0, faultf(CodeConfig, "scale = %v: give a positive finite number", f.scale)
	}
	if length%width != 0 {
		return 0, faultf(CodeConfig, "dst has %d bytes: give a multiple of %d, a parameter takes %[2]d",
			length, width)
	}
	if off < 0 || off > dim {
		return 0, faultf(CodeConfig, "off = %d: parameters are numbered from 0 to %d", off, dim-1)
	}
	return min(length/width, dim-off), nil
}
