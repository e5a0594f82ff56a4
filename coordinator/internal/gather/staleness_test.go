package gather

import (
	"math"
	"testing"

	"github.com/zofl/zofl/wire"
)

// TestDiscount compares the discounts with the papers' formulas.
func TestDiscount(t *testing.T) {
	for _, test := range []struct {
		plan    wire.Plan
		formula func(age float64) float64
	}{
		{wire.Plan{}, func(age float64) float64 { return 1 / math.Sqrt(1+age) }},
		{wire.Plan{
			PlanLate: wire.PlanLate{Staleness: wire.StaleConstant},
		}, func(float64) float64 { return 1 }},
		{wire.Plan{PlanLate: wire.PlanLate{Staleness: wire.StalePolynomial, StalenessA: 0.5}},
			func(age float64) float64 { return math.Pow(1+age, -0.5) }},
		{wire.Plan{PlanLate: wire.PlanLate{Staleness: wire.StalePolynomial, StalenessA: 1.7}},
			func(age float64) float64 { return math.Pow(1+age, -float64(float32(1.7))) }},
		{wire.Plan{PlanLate: wire.PlanLate{Staleness: wire.StalePolynomial, StalenessA: 64}},
			func(age float64) float64 { return math.Pow(1+age, -64) }},
		{wire.Plan{PlanLate: wire.PlanLate{Staleness: wire.StaleHinge, StalenessA: 10, StalenessB: 4}},
			func(age float64) float64 {
				if age <= 4 {
					return 1
				}
				return 1 / (10*(age-4) + 1)
			}},
	} {
		for age := range uint64(wire.MaxLate + 1) {
			got, want := Discount(&test.plan, age), test.formula(float64(age))
			// Each of up to 48 roundings is off by half a unit in the last place, doubled for a
			// fraction of 24 bits, whose last are lost.
			if math.Abs(got-want) > 1e-6*want || age == 0 && got != 1 {
				t.Errorf("%v, a %v, b %d, age %d: %v, want %v", test.plan.Staleness,
					test.plan.StalenessA, test.plan.StalenessB, age, got, want)
			}
		}
	}
}
