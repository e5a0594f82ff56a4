// Package dp computes how much the noisy numbers that a run releases reveal about one device: the
// package is an accountant of differential privacy.
//
// Most programs need only [Epsilon] and [Noise]. Epsilon returns how much privacy a run has spent.
// Noise returns the noise multiplier for a budget.
//
// # What is counted
//
// A release is a list of numbers, with Gaussian noise of standard deviation sigma*C on each. Two
// runs are neighbors if they differ in one device: one run has the scalars of the device, the other
// run has zeros in their place. Without noise the numbers of neighboring runs differ by at most C
// in L2 norm. The list of participating devices is public. If other data replace a device's data,
// the numbers differ by up to 2C: for this case, call Epsilon with half the multiplier.
//
// A release has Renyi differential privacy (a, a/(2 sigma^2)) for each a > 1 (Mironov 2017,
// Proposition 7). The privacy losses of several releases add up (Proposition 1), even if each
// release depends on the releases before. The discrete Gaussian of internal/dpnoise has the same
// bound (Canonne, Kamath and Steinke 2020, Theorem 4). The package counts no amplification by
// sampling, because Zofl announces which devices it asks.
package dp

import "math"

// Epsilon returns the least epsilon for which the theorem below proves that the releases together
// have (epsilon, delta) differential privacy. Each release has the noise multiplier sigma = noise:
//
//	min over a > 1 of  a T/(2 sigma^2) + log((a-1)/a) - (log(delta) + log(a))/(a-1)
//
// with T releases (Canonne, Kamath and Steinke 2020, Proposition 12; Balle et al. 2020, Theorem
// 21). Epsilon is 0 without releases or with delta >= 1, and otherwise infinite if noise or delta
// is not above 0.
func Epsilon(noise float64, releases uint64, delta float64) float64 {
	switch {
	case releases == 0 || delta >= 1:
		return 0
	case !(noise > 0) || !(delta > 0):
		return math.Inf(1)
	}
	rho := float64(releases) / (2 * noise * noise)
	// Every order a gives a valid bound, so the search only has to find a small bound. We search over
	// log(a-1), around the order that the conversion without its logarithms would choose.
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

// at returns the bound on epsilon for the order 1 + exp(u).
func at(rho, u, delta float64) float64 {
	less := math.Exp(u)
	a := 1 + less
	return a*rho + u - math.Log1p(less) - (math.Log(delta)+math.Log1p(less))/less
}

// Noise returns the least noise multiplier, to six digits and rounded up, with which the releases
// spend at most epsilon at delta. Noise is 0 without releases or with delta >= 1, and otherwise
// infinite if epsilon or delta is not above 0.
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
