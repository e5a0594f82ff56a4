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
// Epsilon and Noise use the exact curve of the Gaussian, rounded up. The curve alone is no bound
// for the discrete Gaussian of internal/dpnoise, which can spend a little more. But discrete noise
// is continuous noise with a slightly smaller multiplier that was rounded afterwards, so the curve
// of that multiplier is a bound: see Continuous there. The difference is below one part in a
// million for a multiplier of 0.01, and in a billion for 0.4.
//
// With dp_of=sum each device rounds its scalars after it added its share of the noise. So a sum
// holds the errors of many roundings, and is no function of the noisy sum. No proof says that the
// exact curve holds for such sums. So [Spent], [Planned] and [NoiseFor] keep a bound by Renyi
// divergences there, which is larger, usually by 5 %. It, too, is of the sum before rounding.
//
// The package counts no amplification by sampling, because Zofl announces which devices it asks.
package dp

import "math"

// Epsilon returns the least epsilon with which the releases together have (epsilon, delta)
// differential privacy, rounded up. Each release has the noise multiplier sigma = noise. Epsilon is
// 0 without releases or with delta >= 1, and otherwise infinite if noise or delta is not above 0.
func Epsilon(noise float64, releases uint64, delta float64) float64 {
	return curve(gaussian).epsilon(noise, releases, delta)
}

func (c curve) epsilon(noise float64, releases uint64, delta float64) float64 {
	switch {
	case releases == 0 || delta >= 1:
		return 0
	case !(noise > 0) || !(delta > 0):
		return math.Inf(1)
	}
	return c(noise, releases, delta)
}

// Noise returns the least noise multiplier, to six digits and rounded up, with which the releases
// spend at most epsilon at delta. Noise is 0 without releases or with delta >= 1, and otherwise
// infinite if epsilon or delta is not above 0.
func Noise(epsilon float64, releases uint64, delta float64) float64 {
	return curve(gaussian).noise(epsilon, releases, delta)
}

func (c curve) noise(epsilon float64, releases uint64, delta float64) float64 {
	switch {
	case releases == 0 || delta >= 1:
		return 0
	case !(epsilon > 0) || !(delta > 0):
		return math.Inf(1)
	}
	low, high := 1e-9, 1.0
	for c(high, releases, delta) > epsilon {
		low, high = high, 2*high
	}
	for high-low > 1e-6*high {
		middle := (low + high) / 2
		if c(middle, releases, delta) > epsilon {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
