package wire_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire"
)

// halfOf returns the value of a binary16.
func halfOf(h uint16) float64 {
	sign, exponent, fraction := 1-2*float64(h>>15), int(h>>10&31), float64(h&1023)
	switch {
	case exponent == 31 && fraction > 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// nearest returns the binary16 nearest to x, of two the even one. It searches all of
// them in float64, where the differences are exact. 65536 stands for infinity.
func nearest(x float32) uint16 {
	if x != x {
		return uint16(math.Float32bits(x)>>31)<<15 | 0x7e00
	}
	sign := uint16(math.Float32bits(x)>>31) << 15
	abs := math.Abs(float64(x))
	value := func(h int) float64 {
		if h == 0x7c00 {
			return 65536
		}
		return halfOf(uint16(h))
	}
	low, high := 0, 0x7c00
	if abs >= 65536 {
		return sign | 0x7c00
	}
	for high-low > 1 {
		if mid := (low + high) / 2; value(mid) <= abs {
			low = mid
		} else {
			high = mid
		}
	}
	below, above := abs-value(low), value(high)-abs
	if above < below || above == below && low&1 == 1 {
		low = high
	}
	return sign | uint16(low)
}

// TestEveryHalf: all 65,536 halves have the right value, and encode to the same bits,
// except for the payload of NaNs.
func TestEveryHalf(t *testing.T) {
	for h := range 1 << 16 {
		bits := []byte{byte(h), byte(h >> 8)}
		x := wire.Half.Values(bits, 1, 1)[0]
		want := halfOf(uint16(h))
		if want != want {
			if x == x || !bytes.Equal(wire.Half.Append(nil, x), []byte{0, 0x7e | byte(h>>8)&0x80}) {
				t.Fatalf("%04x: %v is written as %x", h, x, wire.Half.Append(nil, x))
			}
			continue
		}
		if float64(x) != want || math.Signbit(float64(x)) != (h>>15 == 1) {
			t.Fatalf("%04x: got %v, want %v", h, x, want)
		}
		if got := wire.Half.Append(nil, x); !bytes.Equal(got, bits) {
			t.Fatalf("%04x: %v is written as %x", h, x, got)
		}
	}
}

// TestHalfRoundsToNearestEven compares with the search float32s of every exponent, with
// every pattern of the bits that decide.
func TestHalfRoundsToNearestEven(t *testing.T) {
	tried := 0
	for exponent := range uint32(256) {
		for fraction := range uint32(1 << 10) {
			// The bits that a half keeps, then those below: zero, just above zero, just
			// below one half, one half, just above it, and all ones.
			for _, below := range []uint32{0, 1, 0xfff, 0x1000, 0x1001, 0x1fff} {
				for sign := range uint32(2) {
					x := math.Float32frombits(sign<<31 | exponent<<23 | fraction<<13 | below)
					want := nearest(x)
					b := wire.Half.Append(nil, x)
					if got := uint16(b[0]) | uint16(b[1])<<8; got != want {
						t.Fatalf("%08x = %v: got %04x, want %04x", math.Float32bits(x), x, got,
							want)
					}
					rounded, read := [1]float32{x}, [1]float32{}
					wire.Half.Round(rounded[:])
					wire.Half.Decode(read[:], b, 0)
					if math.Float32bits(rounded[0]) != math.Float32bits(read[0]) {
						t.Fatalf("%v is rounded to %v, and read as %v", x, rounded[0], read[0])
					}
					tried++
				}
			}
		}
	}
	// Ties below the smallest normal half lie elsewhere.
	for i := range uint32(1 << 12) {
		for _, near := range []int32{-1, 0, 1} {
			x := float32(i) * 0x1p-25
			x = math.Float32frombits(uint32(int32(math.Float32bits(x)) + near*min(1, int32(i))))
			b := wire.Half.Append(nil, x)
			if got, want := uint16(b[0])|uint16(b[1])<<8, nearest(x); got != want {
				t.Fatalf("%v: got %04x, want %04x", x, got, want)
			}
			tried++
		}
	}
	if tried < 3_000_000 {
		t.Errorf("only %d tried", tried)
	}
}

// TestPrecisions checks widths and lengths, and that Single leaves a float32 as it is.
func TestPrecisions(t *testing.T) {
	values := []float32{0.5, -1.25, 1e-3, float32(math.Inf(-1)), 70000}
	for precision, want := range map[wire.Precision][]float32{
		wire.Single: values,
		wire.Half:   {0.5, -1.25, 0.0010004044, float32(math.Inf(-1)), float32(math.Inf(1))},
	} {
		s := precision.Append(nil, values...)
		if precision.Len(s) != len(values) || len(s) != precision.Bytes(len(values)) ||
			precision.Len(s[:len(s)-1]) != -1 {
			t.Errorf("%v: %d bytes are %d scalars, one less %d", precision, len(s),
				precision.Len(s), precision.Len(s[:len(s)-1]))
		}
		rounded := slices.Clone(values)
		precision.Round(rounded)
		for _, got := range [][]float32{precision.Values(s, 1, 5), precision.Values(s, 5, 1), rounded} {
			if !slices.Equal(got, want) {
				t.Errorf("%v: got %v, want %v", precision, got, want)
			}
		}
		two := make([]float32, 2)
		if precision.Decode(two, s, 1); !slices.Equal(two, want[2:4]) {
			t.Errorf("%v: block 1 is %v, want %v", precision, two, want[2:4])
		}
		if precision.Values(s, 2, 2) != nil || precision.Values(s, 3, 2) != nil {
			t.Errorf("%v: five scalars fit 2 or 3 blocks of two", precision)
		}
	}
	if wire.Half.Len(wire.Scalars{1, 2, 3, 4, 5, 6}) != 3 ||
		wire.Single.Len(wire.Scalars{1, 2, 3, 4, 5, 6}) != -1 {
		t.Error("6 bytes are 3 halves and no float32s")
	}
	if got := wire.AppendScalars(nil, 1); !bytes.Equal(got, wire.Single.Append(nil, 1)) {
		t.Errorf("AppendScalars and Single differ: %x", got)
	}
}
