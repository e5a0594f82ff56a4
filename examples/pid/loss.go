package main

import (
	"math"
	"math/rand/v2"
)

// The cost of 1 K of overshoot, and of moving the heater through its range once a second,
// in K of mean error.
const (
	overshootCost = 0.2
	effortCost    = 5.0
)

// Loss returns the loss of an experiment in K. The loss is a sum of values that a device can
// measure itself: the mean error, a part of the overshoot before the pot, and the total movement
// of the heater.
func Loss(t Trace) float64 {
	far, over, turned := 0.0, 0.0, 0.0
	for i, y := range t.Read {
		far += math.Abs(SetPoint - y)
		if 2*i < len(t.Read) {
			over = max(over, y-SetPoint)
		}
		if i > 0 {
			turned += math.Abs(t.Power[i] - t.Power[i-1])
		}
	}
	return far/float64(len(t.Read)) + overshootCost*over + effortCost*turned/Duration
}

// FleetLoss returns the mean loss of plates with the same gains, with the same noise each time.
// Only a simulation can compute this loss cheaply; a fleet in the field would need many
// experiments on every device.
func FleetLoss(plates []Plate, g Gains) float64 {
	const draws = 8
	sum := 0.0
	for i, p := range plates {
		random := rand.New(rand.NewPCG(uint64(i), 3))
		for range draws {
			sum += Loss(p.Run(g, random))
		}
	}
	return sum / float64(draws*len(plates))
}
