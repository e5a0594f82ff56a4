// Package half converts between float32 and IEEE 754 binary16. The functions give the same bits on
// every processor.
package half

import "math"

// Of rounds to the nearest binary16, ties to even. Values whose magnitude is 65520 or more, half a
// step above 65504, become infinite; a NaN becomes 7e00 with its sign.
func Of(x float32) uint16 {
	bits := math.Float32bits(x)
	sign, abs := uint16(bits>>16)&0x8000, bits&^(1<<31)
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00
	case abs >= 0x477ff000: // 65520, halfway to 65536
		return sign | 0x7c00
	case abs < 0x38800000: // below 2^-14: a multiple of 2^-24
		// Floats near 0.5 are 2^-24 apart, so adding 0.5 rounds correctly.
		return sign | uint16(math.Float32bits(math.Float32frombits(abs)+0.5)-math.Float32bits(0.5))
	}
	abs += 0xfff + abs>>13&1 // rounds to even
	return sign | uint16((abs-(127-15)<<23)>>13)
}

// Float32 returns the exact value of a binary16.
func Float32(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		v := float32(fraction) * 0x1p-24
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
