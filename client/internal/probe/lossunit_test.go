package probe

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// Scalars are slopes in the plan's unit of losses, whatever the form of the objective. The unit is
// a power of 2, so the division is exact.
func TestScalarsInUnits(t *testing.T) {
	const unit = 1 << 20
	f := newSlopes(40, 0, 1)
	for name, o := range map[string]objective.Objective{
		"losses": f, "gradient": &graded{slopes: f}, "slope": &forward{slopes: f},
	} {
		for _, difference := range []plan.Difference{plan.Forward, plan.Central} {
			scalars := func(unit float32) []float32 {
				s := newStepper(t, o, 1, func(p *plan.Plan) {
					p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
					p.Difference, p.LossUnit = difference, unit
				})
				result, err := s.run(s.ctx)
				if err != nil {
					t.Fatal(err)
				}
				return append([]float32(nil), result.Scalars...)
			}
			plain := scalars(0)
			for i, g := range scalars(unit) {
				if plain[i] == 0 || g*unit != plain[i] {
					t.Errorf("%s, %v: scalar %d is %v in units of %v, and %v without", name, difference,
						i, g, unit, plain[i])
				}
			}
		}
	}
}

// TestTooLargeNamesCauses: who has a loss in whole numbers reads of jumps first, and how to get
// another mu.
func TestTooLargeNamesCauses(t *testing.T) {
	loss := func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
		return math.Floor(1e9 * float64(x[0])), nil
	}
	s := newStepper(t, objective.Func(40, loss), 1, func(p *plan.Plan) { p.MaxScalar = 10 })
	_, err := s.run(s.ctx)
	if !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{"> 10 at step 0", "whole numbers or steps", "`zofl change mu=auto`",
		"a longer mu", "minibatch's seed", "steep"} {
		next := strings.Index(err.Error(), want)
		if next < at {
			t.Errorf("%q is not after byte %d of %v", want, at, err)
		}
		at = next
	}
}
