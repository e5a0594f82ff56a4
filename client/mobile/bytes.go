package mobile

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// The library and the app exchange parameters as little-endian float32. All phones store float32
// numbers in this form, so aligned bytes need no conversion.

const floatBytes = 4

// MaxBlock is the most parameters in an array that this library creates for the app, 4 MiB: in
// simple mode, and for Block and Model. Larger models are read in pieces, into arrays of the app.
const MaxBlock = 1 << 20

// block is the number of parameters that the library converts at a time, if it must convert them.
const block = 4096

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns the bytes of x: its own memory, or a copy on a big-endian machine.
func bytesOf(x []float32) []byte {
	if len(x) == 0 {
		return nil
	}
	if littleEndian {
		return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), floatBytes*len(x))
	}
	b := make([]byte, floatBytes*len(x))
	putFloats(b, x)
	return b
}

// floatsOf returns the memory of b as floats, or nil if it is not aligned or not
// little-endian.
func floatsOf(b []byte) []float32 {
	if !littleEndian || len(b) < floatBytes || uintptr(unsafe.Pointer(&b[0]))%floatBytes != 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/floatBytes)
}

func putFloats(dst []byte, x []float32) {
	for i, v := range x {
		binary.LittleEndian.PutUint32(dst[floatBytes*i:], math.Float32bits(v))
	}
}

func getFloats(b []byte) []float32 {
	x := make([]float32, len(b)/floatBytes)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[floatBytes*i:]))
	}
	return x
}

// copyOf returns a copy of parameters off, off+1, ...: count of them, but no more than exist and
// MaxBlock allows. copyOf returns nil if there are no such parameters or read fails.
func copyOf(off, count, dim int, read func(x []float32, off int) error) []byte {
	if off < 0 || off >= dim || count < 1 {
		return nil
	}
	b := make([]byte, floatBytes*min(count, dim-off, MaxBlock))
	if _, err := floats.read(b, off, dim, read); err != nil {
		return nil
	}
	return b
}
