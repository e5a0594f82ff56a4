package robust

import (
	"cmp"
	"slices"
)

// Mix replaces each contribution of a round by the mean of those nearest to it, itself among them:
// of all but as many as may lie. This is nearest-neighbor mixing (Allouah et al. 2023). A liar far
// from the honest devices is near none of them, so it changes no honest contribution; what differs
// between honest contributions, their noise and their data, mostly cancels in a mean.
//
// The results do not depend on the order of contributions, unless two have the same distance from a
// third.
func Mix(all [][]float32, liars uint32) {
	keep := max(len(all)-int(liars), 1)
	mixed := make([][]float32, len(all))
	order, from := make([]int, len(all)), make([]float64, len(all))
	for i, v := range all {
		for j, other := range all {
			order[j], from[j] = j, distance(v, other)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(from[a], from[b]) })
		nearest := order[:keep]
		slices.Sort(nearest)
		mixed[i] = meanOf(all, nearest)
	}
	for i, v := range mixed {
		copy(all[i], v)
	}
}

// distance returns the square of the distance between two contributions.
func distance(a, b []float32) float64 {
	sum := 0.0
	for p, v := range a {
		d := float64(v) - float64(b[p])
		sum += float64(d * d)
	}
	return sum
}

// meanOf returns the mean of some contributions.
func meanOf(all [][]float32, of []int) []float32 {
	mean := make([]float32, len(all[0]))
	for p := range mean {
		sum := 0.0
		for _, i := range of {
			sum += float64(all[i][p])
		}
		mean[p] = float32(sum / float64(len(of)))
	}
	return mean
}
