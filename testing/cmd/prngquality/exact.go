package main

import (
	"context"
	"math"

	"github.com/zofl/zofl/prng"
)

const (
	magnitudes = 1 << 30 // odd words below 2^31, each of which stands for two words
	stretch    = 1 << 16 // number of magnitudes in one partial sum
)

// moments is the sums of |z|, z^2, z^4, z^6.
type moments [4]float64

func (m *moments) add(z float64) {
	z2 := z * z
	m[0] += math.Abs(z)
	m[1] += z2
	m[2] += z2 * z2
	m[3] += z2 * z2 * z2
}

// climb is the number and the largest size of the upward steps of the map. The map should only
// fall.
type climb struct {
	steps   int
	largest float64
}

// exact reports the moments, range and monotonicity of the map over all words. The map is odd (a
// test of prng checks that), so exact computes only the positive half, and the odd moments are 0.
func exact(ctx context.Context, _ sampling, r *report) error {
	sums := make([]moments, magnitudes/stretch)
	climbs := make([]climb, workers())
	err := sweep(ctx, "exact", magnitudes/stretch, func(w int, i uint64) {
		first := uint32(2*stretch*i) + 1
		before := prng.NormalOf(first)
		if i > 0 {
			before = prng.NormalOf(first - 2)
		}
		for j := range uint32(stretch) {
			z := prng.NormalOf(first + 2*j)
			sums[i].add(float64(z))
			if z > before {
				climbs[w].steps++
				climbs[w].largest = max(climbs[w].largest, float64(z)-float64(before))
			}
			before = z
		}
	})
	if err != nil {
		return err
	}
	var m moments
	var up climb
	for i := range sums {
		for k := range m {
			m[k] += sums[i][k] / magnitudes
		}
	}
	for _, c := range climbs {
		up.steps += c.steps
		up.largest = max(up.largest, c.largest)
	}
	names := []string{"E abs z", "E z^2", "E z^4", "E z^6"}
	for k, want := range []float64{math.Sqrt(2 / math.Pi), 1, 3, 15} {
		r.row(names[k]+", relative error", m[k]/want-1, 0, 1e-5)
	}
	r.note("largest abs z", float64(prng.NormalOf(1)), "")
	r.row("median", float64(prng.NormalOf(math.MaxInt32)), 0, 0)
	r.note("upward steps of the map", float64(up.steps), "of 2^30")
	r.row("largest upward step", up.largest, 0, 5e-6)
	ripple(r)
	return nil
}
