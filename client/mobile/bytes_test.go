package mobile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// numbers returns d parameters, odd floats among them.
func numbers(d int) []float32 {
	r := rand.New(rand.NewPCG(1, uint64(d)))
	x := make([]float32, d)
	for i := range x {
		x[i] = math.Float32frombits(r.Uint32())
	}
	copy(x, []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), math.MaxFloat32, 1})
	return x
}

// littleEndianOf returns the bytes that x must have.
func littleEndianOf(x []float32) []byte {
	b := []byte{}
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// shifted returns n bytes that begin shift bytes after an aligned address, and the memory
// around them.
func shifted(n, shift int) (dst, memory []byte) {
	floats := make([]float32, n/floatBytes+3)
	for i := range floats {
		floats[i] = -7
	}
	memory = bytesOf(floats)
	return memory[shift : shift+n : shift+n], memory
}

// Reads write the bytes that encoding/binary would write, for any alignment of dst and any length.
// No byte outside dst changes.
func TestReadInto(t *testing.T) {
	const dim = 2*block + 5
	x := numbers(dim)
	want := littleEndianOf(x)
	read := func(to []float32, off int) error { copy(to, x[off:]); return nil }
	for _, off := range []int{0, 1, block - 1, block, 2 * block, dim - 1, dim} {
		for _, count := range []int{0, 1, 3, block, block + 1, dim, dim + 2} {
			for shift := range floatBytes {
				t.Run(fmt.Sprintf("%d from %d, shifted by %d", count, off, shift), func(t *testing.T) {
					dst, memory := shifted(floatBytes*count, shift)
					before := bytes.Clone(memory)
					n, err := floats.read(dst, off, dim, read)
					if n != min(count, dim-off) || err != nil {
						t.Fatalf("got %d, %v, want %d", n, err, min(count, dim-off))
					}
					copy(before[shift:], want[floatBytes*off:floatBytes*(off+n)])
					if !bytes.Equal(memory, before) {
						t.Error("dst differs from what encoding/binary writes, or bytes outside it changed")
					}
				})
			}
		}
	}
}

// The error of a read that cannot succeed names the wrong value.
func TestReadIntoRefuses(t *testing.T) {
	read := func([]float32, int) error { t.Error("read"); return nil }
	for _, tt := range []struct {
		bytes, off int
		want       string
	}{
		{7, 0, "config: dst has 7 bytes: give a multiple of 4, a parameter takes 4"},
		{8, -1, "config: off = -1: parameters are numbered from 0 to 9"},
		{8, 11, "config: off = 11: parameters are numbered from 0 to 9"},
		{8, math.MaxInt, fmt.Sprintf("config: off = %d: parameters are numbered from 0 to 9",
			math.MaxInt)},
	} {
		if n, err := floats.read(make([]byte, tt.bytes), tt.off, 10, read); n != 0 || err == nil ||
			err.Error() != tt.want {
			t.Errorf("%d bytes from %d: %d, %v, want %q", tt.bytes, tt.off, n, err, tt.want)
		}
	}
}

// A source that fails part of the way ends the read.
func TestReadIntoFails(t *testing.T) {
	broken := errors.New("broken")
	for shift := range 2 {
		dst, _ := shifted(floatBytes*3*block, shift)
		read := func(to []float32, off int) error {
			if off+len(to) > 2*block {
				return broken
			}
			return nil
		}
		if _, err := floats.read(dst, 0, 3*block, read); err != broken {
			t.Errorf("shifted by %d: got %v, want the source's error", shift, err)
		}
	}
}

// copyOf returns the bytes of the parameters, as many as exist, and nil for parameters that cannot
// be read.
func TestCopied(t *testing.T) {
	const dim = block + 5
	x := numbers(dim)
	read := func(to []float32, off int) error { copy(to, x[off:]); return nil }
	for _, tt := range []struct{ off, count, want int }{
		{0, dim, dim}, {0, 1, 1}, {0, math.MaxInt, dim}, {3, 2, 2}, {block, 100, 5}, {dim - 1, 1, 1},
		{dim, 1, 0}, {-1, 1, 0}, {0, 0, 0}, {0, -1, 0}, {math.MaxInt, math.MaxInt, 0},
		{math.MinInt, math.MinInt, 0},
	} {
		got := copyOf(tt.off, tt.count, dim, read)
		if tt.want == 0 && got != nil ||
			tt.want > 0 && !bytes.Equal(got, littleEndianOf(x[tt.off:tt.off+tt.want])) {
			t.Errorf("%d from %d: %d bytes, want %d parameters", tt.count, tt.off, len(got), tt.want)
		}
	}
	if got := copyOf(0, 3, dim,
		func([]float32, int) error { return errors.New("broken") }); got != nil {
		t.Errorf("got %d bytes from a source that fails", len(got))
	}
}

// bytesOf shares the memory of a vector, and getFloats inverts it.
func TestBytesOf(t *testing.T) {
	if b := bytesOf(nil); len(b) != 0 {
		t.Errorf("no parameters have %d bytes", len(b))
	}
	x := numbers(100)
	if b := bytesOf(x); !bytes.Equal(b, littleEndianOf(x)) {
		t.Error("the bytes are not those that encoding/binary writes")
	}
	got := getFloats(littleEndianOf(x))
	for i := range x {
		if math.Float32bits(got[i]) != math.Float32bits(x[i]) {
			t.Fatalf("parameter %d: %x, want %x", i, math.Float32bits(got[i]), math.Float32bits(x[i]))
		}
	}
	for shift := range floatBytes {
		dst, _ := shifted(8, shift)
		if aligned := floatsOf(dst) != nil; aligned != (littleEndian && shift == 0) {
			t.Errorf("shifted by %d: aligned: %v", shift, aligned)
		}
	}
}
