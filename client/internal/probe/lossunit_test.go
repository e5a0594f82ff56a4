package probe

import (
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
