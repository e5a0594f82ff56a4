package main

import (
	"math"

	"github.com/zofl/zofl/prng"
)

// segmentBits is how many bits of the mantissa of f choose a segment (docs/prng.md).
const segmentBits = 6

func density(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// upperTail returns the probability of a normal above z.
func upperTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// ripple reports how far the density of the map, which is constant over a segment, is from the
// normal density. ripple ignores the segments below 2^16: they hold less than 1.6e-5 of the
// probability, beyond 4.3 sigma, and some of them have only a few points.
func ripple(r *report) {
	var worst, bulk, centre, power, cumulative float64
	for octave := 16; octave < 31; octave++ {
		for k := range 1 << segmentBits {
			width := math.Ldexp(1, octave-segmentBits)
			bottom := math.Ldexp(1, octave) + float64(k)*width
			first, last := uint32(bottom)+1, uint32(bottom+width)-1
			if octave > 24 { // avoid rounding into the next segment
				last = uint32(bottom + width*(1-1.0/(1<<16)))
			}
			hi, lo := float64(prng.NormalOf(first)), float64(prng.NormalOf(last|1))
			reach := float64(float32(last|1)) - float64(float32(first))
			d := reach / (hi - lo) / (1 << 32)
			share := width / (1 << 31)
			for _, z := range []float64{lo, hi} {
				off := math.Abs(d/density(z) - 1)
				worst = max(worst, off)
				if math.Abs(z) < 3 {
					bulk = max(bulk, off)
				}
				if math.Abs(z) < 1 {
					centre = max(centre, off)
				}
				// The ripple is near linear over a segment, so its mean square is a third.
				power += share / 2 * off * off / 3
			}
			cumulative = max(cumulative, math.Abs(upperTail(lo)-float64(float32(last|1))/(1<<32)))
		}
	}
	r.row("largest density ripple, abs z < 4.3", worst, 0, 0.01)
	r.row("largest density ripple, abs z < 3", bulk, 0, 0.01)
	r.row("largest density ripple, abs z < 1", centre, 0, 0.01)
	r.note("root mean square density ripple", math.Sqrt(power), "weighted by probability")
	r.row("largest error of the distribution function", cumulative, 0, 1e-5)
}
