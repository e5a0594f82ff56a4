package firstorder

import (
	"cmp"
	"math"
	"slices"
)

// TopK keeps the share of a move's elements with the largest absolute values, and sets the others
// to 0: Stich et al. (2018), as in DeComFL's figures without memory of the elements left out. A
// message holds two floats for each kept element: its value and its position.
func TopK(share float64) func([]float32) float64 {
	return func(move []float32) float64 {
		kept := max(1, int(share*float64(len(move))))
		order := make([]int, len(move))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(math.Abs(float64(move[b])), math.Abs(float64(move[a])))
		})
		for _, i := range order[kept:] {
			move[i] = 0
		}
		return 2 * float64(kept)
	}
}

// EightBits rounds a move's elements to 255 values, evenly spaced from -s to s, where s is the
// largest absolute element: FedCom (Haddadpour et al. 2021) with one byte an element, a quarter
// of a float, and s.
func EightBits(move []float32) float64 {
	s := 0.0
	for _, v := range move {
		s = max(s, math.Abs(float64(v)))
	}
	if s > 0 {
		for i, v := range move {
			move[i] = float32(s / 127 * math.Round(127*float64(v)/s))
		}
	}
	return float64(len(move))/4 + 1
}
