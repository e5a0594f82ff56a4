// Package schedule computes how a step size changes over the rounds of a run. Only a coordinator
// uses this package, because records hold the results.
package schedule

import "math"

// least keeps step sizes above 0, because a replica refuses a step size of 0.
const least = 1e-6

// Cosine returns floor + (1-floor) (1 + cos(pi t))/2, at least 1e-6, with t = (round-1)/end, at
// most 1. Rounds count from 1.
func Cosine(round, end uint64, floor float32) float64 {
	t, low := min(1, done(round)/float64(max(end, 1))), float64(floor)
	return max(low+(1-low)*((1+math.Cos(math.Pi*t))/2), least)
}

// SlowSqrt returns 1 / sqrt(1 + (round-1)/30), at least 1e-6.
func SlowSqrt(round uint64) float64 { return max(1/math.Sqrt(1+done(round)/30), least) }

// done returns how many rounds are over before a round.
func done(round uint64) float64 { return float64(max(round, 1) - 1) }
