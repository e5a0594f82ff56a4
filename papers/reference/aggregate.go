package reference

import (
	"math"
	"slices"
)

// Replayed reports whether the next model is the replay of the aggregated scalars instead of the
// mean of the clients' local models. These models differ if the aggregate is not a mean, or if
// the coordinator rounds the mean scalars before it sends them.
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

// travel rounds scalars to the values that the message format can carry, which the recipients
// get.
func (f *Fleet) travel(g []float64) {
	for p := range g {
		if f.Travel != nil {
			g[p] = f.Travel(g[p])
		}
	}
}

// shorten returns a client's scalars, scaled down so that their norm is at most Clip, as a
// relayed record holds them.
func (f *Fleet) shorten(g [][]float64) [][]float64 {
	g = shorten(g, f.Clip)
	for k := range g {
		if f.Relayed {
			f.travel(g[k])
		}
	}
	return g
}

// shorten returns the scalars g scaled down so that their norm, as one vector, is at most most.
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

// Median returns the median of g. For an even number of elements, the median is the mean of the
// middle two.
func Median(g []float64) float64 {
	s := slices.Sorted(slices.Values(g))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// TrimmedMean returns the mean of g without its smallest and its largest elements. At each end
// TrimmedMean leaves out the share trim of the elements, rounded down.
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

// length returns the norm of all scalars as one vector.
func length(g [][]float64) float64 {
	sum := 0.0
	for _, step := range g {
		sum += dot(step, step)
	}
	return math.Sqrt(sum)
}
