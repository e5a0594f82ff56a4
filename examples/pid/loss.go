package main

import (
	"math"
	"math/rand/v2"
)

// What a K of overshoot and a full turn of the heater a second cost, in K of mean
// error.
const (
	overshootCost = 0.2
	effortCost    = 5.0
)

// Loss judges an experiment by what a device can read itself, in K: the mean error,
// a part of the overshoot before the pot, and what the heater was turned up and down.
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

// FleetLoss is the mean loss of plates with the same gains, over the same readings each
// time it is asked. It is how a simulation judges a method; a fleet in the field would
// need many experiments on every device.
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
