package byzantine

import (
	"cmp"
	"math"
	"slices"
)

// A mixing stands for an aggregation that the coordinator does not have: before the coordinator
// gets a round's contributions, of which this many may lie, mix changes them.
type mixing struct {
	title string // empty: no mixing
	mix   func(all [][]float32, liars int)
}

// distances returns the squared distance of each two contributions.
func distances(all [][]float32) [][]float64 {
	table := make([][]float64, len(all))
	for i, a := range all {
		table[i] = make([]float64, len(all))
		for j, b := range all {
			for p, v := range a {
				d := float64(v) - float64(b[p])
				table[i][j] += d * d
			}
		}
	}
	return table
}

// nearest returns the n contributions nearest to contribution i, with i itself, nearest first.
func nearest(from []float64, n int) []int {
	order := make([]int, len(from))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(from[a], from[b]) })
	return order[:n]
}

// mean returns the mean of some contributions.
func mean(all [][]float32, of []int) []float32 {
	m := make([]float32, len(all[0]))
	for p := range m {
		sum := 0.0
		for _, i := range of {
			sum += float64(all[i][p])
		}
		m[p] = float32(sum / float64(len(of)))
	}
	return m
}

// scores returns the sum of the squared distances of each contribution to its n - f - 2 nearest
// (Blanchard et al. 2017).
func scores(all [][]float32, liars int) []float64 {
	sums := make([]float64, len(all))
	for i, from := range distances(all) {
		for _, j := range nearest(from, len(all)-liars-1) { // with itself, at distance 0
			sums[i] += from[j]
		}
	}
	return sums
}

// krum replaces each contribution by the one with the least score.
func krum(all [][]float32, liars int) { multikrum(all, liars, 1) }

// krums replaces each contribution by the mean of the n - f with the least scores: Multi-Krum.
func krums(all [][]float32, liars int) { multikrum(all, liars, len(all)-liars) }

func multikrum(all [][]float32, liars, keep int) {
	sums := scores(all, liars)
	for i, v := range sums {
		if math.IsNaN(v) {
			sums[i] = math.Inf(1)
		}
	}
	chosen := mean(all, nearest(sums, keep))
	for i := range all {
		all[i] = slices.Clone(chosen)
	}
}
