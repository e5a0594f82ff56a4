// Package schedule computes how a step changes over the rounds of a run. Only a coordinator
// does: its results travel in records.
package schedule

import "math"

// Decay is how a step decays; its numbers are those of a plan's field.
type Decay uint8

const (
	Cosine   Decay = 2 // floor + (1-floor) (1 + cos(pi t))/2, t = (r-1)/horizon, at most 1
	Linear   Decay = 3 // floor + (1-floor) (1-t)
	SlowSqrt Decay = 4 // 1 / sqrt(1 + (r-1)/30)
)

// A Shape says which share of a step each round has.
type Shape struct {
	Decay   Decay // any other: none
	Horizon uint64
	Floor   float32 // share that Cosine and Linear leave
	Warmup  uint64  // rounds in which the step grows, r/Warmup
}

// least keeps a step above 0, which no replica would apply.
const least = 1e-6

// Share returns the share of a round, counted from 1: at least 1e-6 and at most 1.
func (s Shape) Share(round uint64) float64 {
	share, done := 1.0, float64(max(round, 1)-1)
	t := min(1, done/float64(max(s.Horizon, 1)))
	switch s.Decay {
	case Cosine:
		share = s.above((1 + math.Cos(math.Pi*t)) / 2)
	case Linear:
		share = s.above(1 - t)
	case SlowSqrt:
		share = 1 / math.Sqrt(1+done/30)
	}
	if done+1 < float64(s.Warmup) {
		share *= (done + 1) / float64(s.Warmup)
	}
	return max(share, least)
}

// above lifts a share to the floor.
func (s Shape) above(share float64) float64 {
	floor := float64(s.Floor)
	return floor + (1-floor)*share
}
