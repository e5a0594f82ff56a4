// Package dp says how much the releases of a run tell about one device: it is an accountant of
// differential privacy. It knows the numbers of a plan, but not the wire.
//
// Most programs need [Epsilon], which says how much a run has spent, and [Noise], which says which
// multiplier fits a budget.
//
// # What is counted
//
// A release is a list of numbers, with Gaussian noise of standard deviation sigma*C on each.
// Between two neighboring runs, the L2 norm of the difference without noise is at most C. Two runs
// are neighbors if they differ in one device: one has its scalars, the other has zeros in their
// place. Who takes part is public. If a device's data are replaced by other data, the numbers
// differ by up to 2C: take Epsilon of half the multiplier.
//
// A release has Renyi differential privacy (a, a/(2 sigma^2)) for each a > 1 (Mironov 2017,
// Proposition 7). The privacy of several releases adds up (Proposition 1), even if each depends on
// the releases before. The discrete Gaussian of internal/dpnoise has the same bound (Canonne,
// Kamath and Steinke 2020, Theorem 4). It counts no amplification by sampling, because Zofl
// announces which devices are asked.
package dp

import "math"

// Epsilon returns the least epsilon for which releases, of the noise multiplier sigma = noise each,
// are known to have (epsilon, delta) differential privacy:
//
//	min over a > 1 of  a T/(2 sigma^2) + log((a-1)/a) - (log(delta) + log(a))/(a-1)
//
// with T releases (Canonne, Kamath and Steinke 2020, Proposition 12; Balle et al. 2020, Theorem
// 21). It is 0 without releases, and infinite without noise or a delta above 0. At delta = 1 or
// more it is 0.
func Epsilon(noise float64, releases uint64, delta float64) float64 {
	switch {
	case releases == 0 || delta >= 1:
		return 0
	case !(noise > 0) || !(delta > 0):
		return math.Inf(1)
	}
	rho := float64(releases) / (2 * noise * noise)
	// Any order gives a bound that holds. The search only finds a small one: over log(a-1), around
	// the order that the conversion without its logarithms would choose.
	middle := math.Log(math.Sqrt(-math.Log(delta) / rho))
	low, high := min(middle, 0)-6, middle+6
	for range 200 {
		third := (high - low) / 3
		if at(rho, low+third, delta) < at(rho, high-third, delta) {
			high -= third
		} else {
			low += third
		}
	}
	return max(0, at(rho, (low+high)/2, delta))
}

// at is the bound of the order 1 + exp(u).
func at(rho, u, delta float64) float64 {
	less := math.Exp(u)
	a := 1 + less
	return a*rho + u - math.Log1p(less) - (math.Log(delta)+math.Log1p(less))/less
}

// Noise returns the least multiplier, to six digits and rounded up, with which releases stay within
// epsilon at delta. It is 0 without releases or at delta >= 1, and infinite where epsilon or delta
// is not above 0.
func Noise(epsilon float64, releases uint64, delta float64) float64 {
	switch {
	case releases == 0 || delta >= 1:
		return 0
	case !(epsilon > 0) || !(delta > 0):
		return math.Inf(1)
	}
	low, high := 1e-9, 1.0
	for Epsilon(high, releases, delta) > epsilon {
		low, high = high, 2*high
	}
	for high-low > 1e-6*high {
		middle := (low + high) / 2
		if Epsilon(middle, releases, delta) > epsilon {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
