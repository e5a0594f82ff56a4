package late

import (
	"math"
	"testing"

	"github.com/zofl/zofl/plan"
)

// TestDiscount compares the discount with the paper's formula.
func TestDiscount(t *testing.T) {
	for age := range uint64(plan.MaxLate + 1) {
		got, want := Discount(age), math.Pow(1+float64(age), -0.5)
		if math.Abs(got-want) > 1e-15 || age == 0 && got != 1 {
			t.Errorf("age %d: %v, want %v", age, got, want)
		}
	}
}
