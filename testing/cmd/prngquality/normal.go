package main

import (
	"context"
	"fmt"
	"math"

	"github.com/zofl/zofl/prng"
)

// A histogram has bins of 2^-18 from -reach to reach.
const (
	reach       = 8
	binsPerUnit = 1 << 18
	bins        = 2 * reach * binsPerUnit
)

// sample is the statistics that one worker collects.
type sample struct {
	histogram []uint32
	powers    [5]float64 // sums of z^1, z^2, z^3, z^4, z^6
	tails     [3]uint64  // samples beyond each of tailLimits
}

var tailLimits = [3]float32{4, 5, 5.5}

func (s *sample) add(x []float32) {
	var powers [5]float64
	for _, v := range x {
		z := float64(v)
		z2 := z * z
		powers[0] += z
		powers[1] += z2
		powers[2] += z * z2
		powers[3] += z2 * z2
		powers[4] += z2 * z2 * z2
		for i, limit := range tailLimits {
			if v > limit || v < -limit {
				s.tails[i]++
			}
		}
		s.histogram[int((v+reach)*binsPerUnit)]++
	}
	for i := range powers {
		s.powers[i] += powers[i]
	}
}

// normals reports the moments, the tails and the distribution function of s.n elements.
func normals(ctx context.Context, s sampling, r *report) error {
	samples := make([]sample, workers())
	buffers := make([][prng.BlockLen]float32, workers())
	for w := range samples {
		samples[w].histogram = make([]uint32, bins)
	}
	blocks := s.n / prng.BlockLen
	err := sweep(ctx, "normal", blocks, func(w int, i uint64) {
		z, block := s.at(i)
		prng.Fill(buffers[w][:], z, block)
		samples[w].add(buffers[w][:])
	})
	if err != nil {
		return err
	}
	total := samples[0]
	for _, part := range samples[1:] {
		for i, count := range part.histogram {
			total.histogram[i] += count
		}
		for i := range part.powers {
			total.powers[i] += part.powers[i]
		}
		for i := range part.tails {
			total.tails[i] += part.tails[i]
		}
	}
	total.report(float64(blocks*prng.BlockLen), r)
	return nil
}

func (s *sample) report(n float64, r *report) {
	r.note("samples", n, "")
	want := []float64{0, 1, 0, 3, 15}
	variance := []float64{1, 2, 15, 96, 10395 - 225}
	for i, power := range []int{1, 2, 3, 4, 6} {
		got := s.powers[i] / n
		r.score(fmt.Sprintf("mean of z^%d", power), got, (got-want[i])*math.Sqrt(n/variance[i]))
	}
	for i, limit := range tailLimits {
		expected := 2 * n * upperTail(float64(limit))
		r.score(fmt.Sprintf("beyond %v sigma, expected %.1f", limit, expected),
			float64(s.tails[i]), (float64(s.tails[i])-expected)/math.Sqrt(expected))
	}
	distance := s.distance(n)
	p := kolmogorov(distance * math.Sqrt(n))
	r.score(fmt.Sprintf("Kolmogorov-Smirnov distance, p = %.2f", p), distance, scoreOf(p))
	for _, cells := range []int{256, 1024} {
		x := s.chiSquared(n, cells)
		z := chiSquaredScore(x, float64(cells-1))
		r.note(fmt.Sprintf("chi-squared of %d equal cells", cells), x, fmt.Sprintf("z = %+.2f", z))
	}
}

// edge returns the lower edge of a bin.
func edge(bin int) float64 { return float64(bin)/binsPerUnit - reach }

// distance returns the largest difference between the sample's distribution function and the normal
// distribution function, at the edges of bins.
func (s *sample) distance(n float64) float64 {
	below, largest := uint64(0), 0.0
	for i, count := range s.histogram {
		if count == 0 {
			continue
		}
		largest = max(largest, math.Abs(float64(below)/n-upperTail(-edge(i))))
		below += uint64(count)
		largest = max(largest, math.Abs(float64(below)/n-upperTail(-edge(i+1))))
	}
	return largest
}

// kolmogorov returns the probability that sqrt(n)*D exceeds x, for large n.
func kolmogorov(x float64) float64 {
	p, sign := 0.0, 1.0
	for k := 1.0; k <= 100; k++ {
		p += sign * 2 * math.Exp(-2*k*k*x*x)
		sign = -sign
	}
	return min(1, max(0, p))
}

// scoreOf returns the z-score that a normal variable exceeds with probability p.
func scoreOf(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*p) }

// chiSquared merges the bins into cells of about equal probability.
func (s *sample) chiSquared(n float64, cells int) float64 {
	var x, count, low float64
	for i := range s.histogram {
		count += float64(s.histogram[i])
		high := upperTail(-edge(i + 1))
		if high-low >= 1/float64(cells) || i == len(s.histogram)-1 {
			expected := n * (high - low)
			x += (count - expected) * (count - expected) / expected
			count, low = 0, high
		}
	}
	return x
}
