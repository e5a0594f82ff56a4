package cohort

import "github.com/zofl/zofl/wire"

// A ResponseRate estimates how many devices of an open roster would answer, from the number of
// answers.
type ResponseRate struct {
	Population uint64 // devices that would answer if all were asked
	threshold  uint64 // of the record that is being counted; 0 for none
	Answers    uint64 // to that record, late ones included
	Early      bool   // it closed before all had time to answer
}

// Ask returns the threshold at which about want devices answer an attempt. Each attempt asks twice
// as many devices as the attempt before.
func (y *ResponseRate) Ask(want uint64, attempt uint32) uint64 {
	if want >= y.Population {
		return wire.FullThreshold
	}
	t := max(want<<32/y.Population, 1)
	for range min(attempt, 32) {
		t = min(2*t, wire.FullThreshold)
	}
	return t
}

// Begin starts to count the answers to a threshold.
func (y *ResponseRate) Begin(threshold uint64) {
	y.learn()
	y.threshold, y.Answers, y.Early = threshold, 0, false
}

// learn moves the estimate a quarter of the way to the number that the last answers show. A record
// that closed early shows only a lower bound.
func (y *ResponseRate) learn() {
	if y.threshold == 0 {
		return
	}
	seen := y.Answers << 32 / y.threshold
	if seen > y.Population || !y.Early {
		y.Population = max((3*y.Population+seen)/4, 1)
	}
}
