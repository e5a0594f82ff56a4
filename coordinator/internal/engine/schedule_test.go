package engine

import "testing"

// TestSchedulesTravel: decay and warm-up are in the record's step, or in its factor where
// server_step sets the length of a move. Devices are told the step alone.
func TestSchedulesTravel(t *testing.T) {
	schedule := []string{"warmup=2", "step_decay=linear", "horizon=4", "floor=0.5", "step=0.5"}
	for _, tt := range []struct {
		name          string
		fields        []string
		steps, factor [3]float32
	}{
		{"mean", nil, [3]float32{0.25, 0.4375, 0.375}, [3]float32{}},
		{"normalized", []string{"steps=1", "server_rule=normalized"},
			[3]float32{0.25, 0.4375, 0.375}, [3]float32{}},
		{"adam", []string{"server_rule=adam", "server_step=1", "server_epsilon=1e-8"},
			[3]float32{0.5, 0.5, 0.5}, [3]float32{0.5, 0.875, 0.75}},
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
