package grouping

import (
	"cmp"
	"math"
	"slices"
)

// longest bounds the distance of a sketch from the median sketch, as a factor on the median
// distance, so that the sketch of a lying device does not decide alone.
const longest = 3

// Sketches are what members measured along common directions at one state: sketch i is (<z_j, grad
// f_i>)_j. Members with different gradients have different sketches.
//
// Invariant: of has, by slot, each sketch minus the weighted mean of the sketches, times its
// member's weight over the mean weight. Before that, each sketch that was farther from the
// element-wise median than longest times the median distance was moved to that distance.
type sketches struct {
	of     map[uint32][]float64
	asked  map[uint32]bool // members that were present
	square float64         // mean squared length
	mean   []float64       // of the sketches; nil: there are none
}

// newSketches returns the sketches of members. A member that the coordinator asked and that sent no
// sketch counts as average.
func newSketches(a Answers, asked map[uint32]bool) *sketches {
	slots, rows := a.Slots, a.Rows
	s := &sketches{of: map[uint32][]float64{}, asked: asked}
	if len(rows) == 0 {
		return s
	}
	center, lengths := make([]float64, len(rows[0])), make([]float64, len(rows))
	for j := range center {
		column := make([]float64, len(rows))
		for i, row := range rows {
			column[i] = float64(row[j])
		}
		center[j] = median(column)
	}
	for i, slot := range slots {
		v := make([]float64, len(center))
		for j := range v {
			v[j] = float64(rows[i][j]) - center[j]
		}
		s.of[slot], lengths[i] = v, math.Sqrt(dot(v, v))
	}
	most, mean := longest*median(lengths), make([]float64, len(center))
	shares := sharesOf(a.Weights)
	for i, slot := range slots {
		v := s.of[slot]
		if lengths[i] > most {
			scale(v, most/lengths[i])
		}
		for j := range mean {
			mean[j] += v[j] * shares[i]
		}
	}
	s.mean = make([]float64, len(mean))
	for j := range mean {
		s.mean[j] = center[j] + mean[j]
	}
	for i, slot := range slots {
		v := s.of[slot]
		for j := range v {
			v[j] = (v[j] - mean[j]) * shares[i] * float64(len(slots))
		}
		s.square += dot(v, v) / float64(len(slots))
	}
	return s
}

// product returns <phi_i - mean, phi_j - mean>, C_ij. For a member without a sketch, product with
// another member is 0, and product with itself is the mean squared length of the sketches.
func (s *sketches) product(i, j uint32) float64 {
	a, b := s.of[i], s.of[j]
	switch {
	case a != nil && b != nil:
		return dot(a, b)
	case i == j:
		return s.square
	}
	return 0
}

// cost returns sum_S 1'C_S 1, over groups S. For each group, 1'C_S 1 is the squared length of the
// sum of the members' differences from the mean.
func (s *sketches) cost(groups [][]uint32) (sum float64) {
	for _, slots := range groups {
		for _, i := range slots {
			for _, j := range slots {
				sum += s.product(i, j)
			}
		}
	}
	return sum
}

// The weights of a group's members in the group's mean are integers, in units of 1/weightUnit of
// the largest claimed weight.
const (
	weightUnit   = 1 << 16
	ridge        = 0.02 // of the mean square, so that no weight rests on a sketch's noise
	leastWeight  = 0.2
	largerWeight = 3
)

// weights returns the weights of a group's members with which their sketches cancel best:
//
//	w = (C_S + 0.02 mean(diag C) I)^-1 1, to a mean of 1, clipped to [0.2, 3], to a mean of 1
//
// The returned weights are these factors times the weights that the members claim.
func (s *sketches) weights(slots, claimed []uint32) []uint32 {
	n := len(slots)
	c := make([][]float64, n)
	for i := range c {
		c[i] = make([]float64, n)
		for j := range c[i] {
			c[i][j] = s.product(slots[i], slots[j])
		}
		c[i][i] += ridge * s.square
	}
	w := solve(c)
	toMeanOne(w)
	for i := range w {
		w[i] = min(max(w[i], leastWeight), largerWeight)
	}
	toMeanOne(w)
	whole, most := make([]uint32, n), float64(slices.Max(claimed))
	for i := range w {
		whole[i] = max(uint32(math.Round(w[i]*float64(claimed[i])/most*weightUnit)), 1)
	}
	return whole
}

// toMeanOne divides w by its mean. If that mean is not positive or a result is not finite,
// toMeanOne sets all elements to 1.
func toMeanOne(w []float64) {
	mean := 0.0
	for _, v := range w {
		mean += v / float64(len(w))
	}
	for i := range w {
		if w[i] /= mean; !(mean > 0) || !(math.Abs(w[i]) < math.MaxFloat32) {
			for i := range w {
				w[i] = 1
			}
			return
		}
	}
}

// solve returns the x with c x = 1, for a positive definite c, by Cholesky decomposition. solve
// changes c.
func solve(c [][]float64) []float64 {
	x := make([]float64, len(c))
	for i := range c {
		for j := range i {
			for k := range j {
				c[i][j] -= c[i][k] * c[j][k]
			}
			c[i][j] /= c[j][j]
			c[i][i] -= c[i][j] * c[i][j]
		}
		c[i][i] = math.Sqrt(c[i][i])
	}
	for i := range c {
		x[i] = 1
		for k := range i {
			x[i] -= c[i][k] * x[k]
		}
		x[i] /= c[i][i]
	}
	for i := len(c) - 1; i >= 0; i-- {
		for k := i + 1; k < len(c); k++ {
			x[i] -= c[k][i] * x[k]
		}
		x[i] /= c[i][i]
	}
	return x
}

func dot(a, b []float64) (sum float64) {
	for j := range a {
		sum += a[j] * b[j]
	}
	return sum
}

func scale(v []float64, by float64) {
	for j := range v {
		v[j] *= by
	}
}

func median(values []float64) float64 {
	sorted := slices.SortedFunc(slices.Values(values), cmp.Compare[float64])
	return sorted[len(sorted)/2]
}
