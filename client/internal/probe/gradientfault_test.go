package probe

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// The app cannot read a direction once its call is over.
func TestDirectionRevoked(t *testing.T) {
	o := &streamed{slopes: newSlopes(3, 0, 1), piece: 3}
	s := newStepper(t, o, 1, func(*plan.Plan) {})
	if _, err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := o.last.Read(make([]float32, 1), 0); err != objective.ErrRevoked {
		t.Errorf("got %v, want %v", err, objective.ErrRevoked)
	}
	if s.c.buffers.probe != nil || s.c.slopes.g != nil {
		t.Error("the device made a copy of the model")
	}
}

// A fault of the app's gradient costs the device the round, and the error names the fault.
func TestGradientFaults(t *testing.T) {
	late := errors.New("the engine is gone")
	for name, tt := range map[string]struct {
		spoil func(g []float32) error
		want  string
	}{
		"error": {func([]float32) error { return late },
			"gradient at step 0: the engine is gone"},
		"panic":     {func([]float32) error { panic("oh") }, "gradient at step 0: panic: oh"},
		"NaN":       {setsTo(7, math.NaN()), "element 7 of the gradient is NaN: set each element"},
		"infinity":  {setsTo(3, math.Inf(-1)), "element 3 of the gradient is -Inf"},
		"too large": {setsTo(0, 1e30), "max_scalar"},
	} {
		g := &graded{slopes: newSlopes(testDim, 0, 1), spoil: tt.spoil}
		s := newStepper(t, g, 1, func(*plan.Plan) {})
		_, err := s.run(t.Context())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
		if errors.Is(err, ErrTooLarge) != (name == "too large") || errors.Is(err, late) !=
			(name == "error") {
			t.Errorf("%s: %v matches another error", name, err)
		}
		g.spoil = nil
		if _, err := s.run(t.Context()); err != nil {
			t.Errorf("%s: the round after: %v", name, err)
		}
	}
}

// The device finds a gradient that the app only adds to, or does not set. The device also finds a
// loss or a slope that is NaN or infinite.
func TestGradientForgotten(t *testing.T) {
	for want, o := range map[string]objective.Objective{
		"the gradient is not finite: element 0 of the gradient is NaN": bad{newSlopes(3, 0, 1), 1, 0},
		"the gradient is not finite: NaN along direction 0": badSlope{newSlopes(3, 0, 1), 1,
			math.NaN()},
		"the loss is not finite: NaN with the gradient at step 0": bad{newSlopes(3, 0, 1), math.NaN(),
			1},
		"the loss is not finite in float32: 1e+39 with the gradient at step 0; return one below " +
			"3.4e+38": bad{newSlopes(3, 0, 1), 1e39, 1},
		"the loss is not finite: +Inf with the slope at step 0, perturbation 0": badSlope{newSlopes(3,
			0, 1), math.Inf(1), 0},
	} {
		s := newStepper(t, o, 1, func(*plan.Plan) {})
		if _, err := s.run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: got %v, want %q", o, err, want)
		}
	}
}
