package engine

import (
	"math"
	"testing"
)

// TestSchedulesTravel: a decay is in the record's step, or in its factor where
// server_step sets the length of a move. Devices are told the step alone.
func TestSchedulesTravel(t *testing.T) {
	schedule := []string{"step_decay=cosine", "rounds=4", "floor=0.5", "step=0.5"}
	steps := [3]float32{0.5, float32(0.5 * (0.5 + 0.25*(1+1/math.Sqrt2))), 0.375}
	for _, tt := range []struct {
		name          string
		fields        []string
		steps, factor [3]float32
	}{
		{"mean", nil, steps, [3]float32{}},
		{"normalized", []string{"steps=1", "server_rule=normalized"},
			steps, [3]float32{}},
		{"adam", []string{"server_rule=adam", "server_step=1", "server_epsilon=1e-8"},
			[3]float32{0.5, 0.5, 0.5}, [3]float32{0, 2 * steps[1], 2 * steps[2]}},
	} {
		s := newLateStage(t, append(schedule, tt.fields...)...)
		for i := range tt.steps {
			announced := s.c.head().StepSize
			for d := range 3 {
				s.reply(d, s.c.N+1, make([]float32, s.c.round.scalars)...)
			}
			r := s.stored()
			if r.StepSize != tt.steps[i] || r.Factor != tt.factor[i] || announced != r.StepSize {
				t.Errorf("%s, round %d: step %v, announced as %v, factor %v, want %v and %v", tt.name,
					i+1, r.StepSize, announced, r.Factor, tt.steps[i], tt.factor[i])
			}
		}
	}
}
