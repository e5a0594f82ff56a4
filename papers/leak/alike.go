package leak

import (
	"cmp"
	"math"
	"slices"
)

// Correlation returns the correlation of two lists of numbers, or 0 if a list is constant.
func Correlation(a, b []float64) float64 {
	meanA, meanB := mean(a), mean(b)
	var aa, bb, ab float64
	for i := range a {
		da, db := a[i]-meanA, b[i]-meanB
		aa, bb, ab = aa+da*da, bb+db*db, ab+da*db
	}
	if n := float64(len(a)); aa <= 1e-24*n || bb <= 1e-24*n {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

// L1 returns the mean L1 distance between corresponding histograms of two lists. The distance of
// two histograms is from 0 to 2.
func L1(a, b [][]float64) (distance float64) {
	for i := range a {
		for c := range a[i] {
			distance += math.Abs(a[i][c]-b[i][c]) / float64(len(a))
		}
	}
	return distance
}

// Pairs returns f(i, j) for each pair of n devices with i < j.
func Pairs(n int, f func(i, j int) float64) (list []float64) {
	for i := range n {
		for j := i + 1; j < n; j++ {
			list = append(list, f(i, j))
		}
	}
	return list
}

// Alike returns, for each pair of devices, the correlation of the numbers that the two devices
// sent in the rounds in which both sent numbers. sent[i][n] holds the numbers of device i in
// round n.
func Alike(sent []map[uint64][]float64) []float64 {
	return Pairs(len(sent), func(i, j int) float64 {
		var rounds []uint64
		for n := range sent[i] {
			if sent[j][n] != nil {
				rounds = append(rounds, n)
			}
		}
		slices.Sort(rounds)
		var a, b []float64
		for _, n := range rounds {
			a, b = append(a, sent[i][n]...), append(b, sent[j][n]...)
		}
		if len(a) == 0 {
			return 0
		}
		return Correlation(a, b)
	})
}

// Near says which pairs of devices are among the tenth of the pairs whose histograms are nearest
// to each other.
func Near(histograms [][]float64) []bool {
	distances := Pairs(len(histograms), func(i, j int) float64 {
		return L1(histograms[i:i+1], histograms[j:j+1])
	})
	sorted := slices.Sorted(slices.Values(distances))
	most := sorted[max(len(sorted)/10, 1)-1]
	near := make([]bool, len(distances))
	for i, d := range distances {
		near[i] = d <= most
	}
	return near
}

// AUC returns the probability that a value whose truth is true is above a value whose truth is
// false; equal values count half, and NaN is below all numbers. An AUC of 1 means that the values
// separate the two classes, 0.5 that the values say nothing about the class.
func AUC(values []float64, truth []bool) float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	var below, tied, wins, holds float64
	for start := 0; start < len(order); {
		end, trues := start, 0.0
		for ; end < len(order) && cmp.Compare(values[order[end]], values[order[start]]) == 0; end++ {
			if truth[order[end]] {
				trues++
			}
		}
		tied = float64(end-start) - trues
		wins += trues * (below + tied/2)
		below, holds, start = below+tied, holds+trues, end
	}
	return wins / (below * holds)
}
