package kernelbench

import (
	"context"
	"slices"
	"time"
)

// A stage is a part of the measurement. It has a share of the time, for preparations and rounds of
// tasks.
type stage struct {
	ctx      context.Context
	name     string
	start    time.Time
	budget   time.Duration
	progress func(stage string, done float64)
}

// A task is a piece of work, and its number of elements.
type task struct {
	elements float64
	run      func() error
}

// A series holds the speeds of all tasks in each round, in elements a second.
type series [][]float64

// interleave runs rounds until the stage's time is used up, at least one round. A round runs all
// tasks, one after the other. interleave calls before, unless nil, before each round, and does not
// time that call.
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
		took := max(time.Since(start), 1) // a coarse clock may not have advanced
		speeds[i] = t.elements / took.Seconds()
	}
	return speeds, nil
}

// speed returns the median speed of task i.
func (s series) speed(i int) float64 {
	return s.median(func(round []float64) float64 { return round[i] })
}

// ratio returns the median over rounds of the speed of task i divided by the speed of task j.
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
