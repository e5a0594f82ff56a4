package half_test

import (
	"math"
	"testing"

	"github.com/zofl/zofl/internal/half"
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
		x := half.Float32(uint16(h))
		want := halfOf(uint16(h))
		if want != want {
			if got := half.Of(x); x == x || got != 0x7e00|uint16(h)&0x8000 {
				t.Fatalf("%04x: %v is rounded to %04x", h, x, got)
			}
			continue
		}
		if float64(x) != want || math.Signbit(float64(x)) != (h>>15 == 1) {
			t.Fatalf("%04x: got %v, want %v", h, x, want)
		}
		if got := half.Of(x); got != uint16(h) {
			t.Fatalf("%04x: %v is rounded to %04x", h, x, got)
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
					if got := half.Of(x); got != want {
						t.Fatalf("%08x = %v: got %04x, want %04x", math.Float32bits(x), x, got,
							want)
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
			if got, want := half.Of(x), nearest(x); got != want {
				t.Fatalf("%v: got %04x, want %04x", x, got, want)
			}
			tried++
		}
	}
	if tried < 3_000_000 {
		t.Errorf("only %d tried", tried)
	}
}
