package kernelbench

import (
	"context"
	"slices"
	"time"
)

// A stage is a budget of time for preparations and rounds of tasks.
type stage struct {
	ctx      context.Context
	name     string
	start    time.Time
	budget   time.Duration
	progress func(stage string, done float64)
}

// A task is a piece of work and how many elements it is.
type task struct {
	elements float64
	run      func() error
}

// A series holds each round's speeds of all tasks, in elements a second.
type series [][]float64

// interleave runs all tasks one after the other until the budget is spent, one
// round at least. before, if not nil, is called before each round and is not
// timed.
func (s *stage) interleave(before func(), tasks ...task) (series, error) {
	var all series
	for {
		if before != nil {
			before()
		}
		round, err := s.round(tasks)
		if err != nil {
			return nil, err
		}
		all = append(all, round)
		spent := time.Since(s.start)
		s.progress(s.name, min(1, spent.Seconds()/s.budget.Seconds()))
		if spent >= s.budget {
			return all, nil
		}
	}
}

func (s *stage) round(tasks []task) ([]float64, error) {
	speeds := make([]float64, len(tasks))
	for i, t := range tasks {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		start := time.Now()
		if err := t.run(); err != nil {
			return nil, err
		}
		took := max(time.Since(start), 1) // a coarse clock may have stood still
		speeds[i] = t.elements / took.Seconds()
	}
	return speeds, nil
}

// speed is task i's median.
func (s series) speed(i int) float64 {
	return s.median(func(round []float64) float64 { return round[i] })
}

// ratio is the median of task i's speed over task j's in the same round.
func (s series) ratio(i, j int) float64 {
	return s.median(func(round []float64) float64 { return round[i] / round[j] })
}

func (s series) median(of func(round []float64) float64) float64 {
	var all []float64
	for _, round := range s {
		all = append(all, of(round))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
