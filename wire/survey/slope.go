package survey

import (
	"math"
	"slices"
)

// Sides say, for each distance along a direction, ascending, by how much the losses at its two ends
// differ: 0 up to rounding, NaN if a loss is not finite.
type Sides []float64

// Side returns the element of [Sides] for the losses at the two ends.
func Side(plus, minus float64) float64 {
	differ := math.Abs(plus - minus)
	if sum := math.Abs(plus) + math.Abs(minus); sum-sum != 0 {
		return math.NaN()
	} else if differ <= Rounding*sum {
		return 0
	}
	return differ
}

// Change says whether the loss changes along the direction at any distance.
func (s Sides) Change() bool {
	return slices.ContainsFunc(s, func(differ float64) bool { return differ != 0 })
}

// Sloped says whether the direction shows a slope. A slope still counts at the longest distance, or
// grows with the distance. What differs only at shorter distances, and does not grow, is a jump: a
// loss in whole numbers may have one beside x, even along a direction without a slope. If no loss
// is finite, other directions would not help, and Sloped returns true.
func (s Sides) Sloped() bool {
	last := -1.0
	for i, differ := range s {
		if differ == differ {
			last = differ
		}
		if i >= 2 && s[i-2] > 0 && s[i-1] >= 2*s[i-2] && differ >= 10*s[i-2] {
			return true
		}
	}
	return last != 0
}
