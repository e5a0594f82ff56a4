package reference

import (
	"math"
	"slices"
)

// Replayed reports whether the replay defines the method, because replicas do not apply the
// mean of the clients' moves: the aggregate is not a mean, or the mean was rounded to
// travel.
func (f *Fleet) Replayed() bool {
	return f.Aggregate != nil || f.Travel != nil && !f.Relayed
}

// aggregate computes one g[k][p] from the contributors' scalars.
func (f *Fleet) aggregate(r *Round, scalars [][][]float64) [][]float64 {
	out := make([][]float64, f.K)
	for k := range out {
		out[k] = make([]float64, r.P)
		for p := range out[k] {
			var all []float64
			sum := 0.0
			for j, g := range scalars {
				all = append(all, g[k][p])
				sum += r.weight(j) * g[k][p]
			}
			if f.Aggregate != nil {
				sum = f.Aggregate(all)
			}
			out[k][p] = sum
		}
		f.travel(out[k])
	}
	return out
}

// travel rounds scalars to the values that recipients get.
func (f *Fleet) travel(g []float64) {
	for p := range g {
		if f.Travel != nil {
			g[p] = f.Travel(g[p])
		}
	}
}

// shorten returns a client's scalars clipped to the length Clip, as a relayed record has
// them.
func (f *Fleet) shorten(g [][]float64) [][]float64 {
	g = shorten(g, f.Clip)
	for k := range g {
		if f.Relayed {
			f.travel(g[k])
		}
	}
	return g
}

// shorten returns scalars clipped to a length, as one vector.
func shorten(g [][]float64, most float64) [][]float64 {
	long := length(g)
	if long <= most {
		return g
	}
	out := make([][]float64, len(g))
	for k := range g {
		out[k] = make([]float64, len(g[k]))
		add(out[k], most/long, g[k])
	}
	return out
}

// Median returns the median of g: for an even number the mean of the middle two.
func Median(g []float64) float64 {
	s := slices.Sorted(slices.Values(g))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// TrimmedMean returns the mean of g without the part trim at either end, rounded down to
// whole numbers of elements.
func TrimmedMean(g []float64, trim float64) float64 {
	s := slices.Sorted(slices.Values(g))
	cut := int(trim * float64(len(s)))
	s = s[cut : len(s)-cut]
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

// length returns the length of scalars as one vector.
func length(g [][]float64) float64 {
	sum := 0.0
	for _, step := range g {
		sum += dot(step, step)
	}
	return math.Sqrt(sum)
}
