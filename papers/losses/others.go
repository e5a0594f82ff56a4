package losses

import (
	"math"

	"github.com/zofl/zofl/plan"
)

// others lists tasks whose parameters do not form layers.
func others() []task { return []task{recurrence(), adapter(), factors(), mixture()} }

// recurrence returns the task of a recurrent network of eight units. The network reads ten pairs
// of a number and a mark, and predicts the sum of the marked numbers.
func recurrence() task {
	const steps, units, samples = 10, 8, 1000
	rng := source(41)
	type step struct{ number, mark float32 }
	inputs, sums := make([][steps]step, samples), make([]float64, samples)
	for i := range inputs {
		for t := range inputs[i] {
			s := &inputs[i][t]
			s.number, s.mark = float32(2*rng.Float64()-1), float32(rng.IntN(2))
			sums[i] += float64(s.number * s.mark)
		}
	}
	return task{name: "recurrence", what: "a recurrent network that adds marked numbers",
		layers: "tanh:10x8,8x1", devices: 5, samples: samples,
		loss: mean(func(x []float32, i int) float64 {
			state, rest := make([]float32, units), []float32(nil)
			for _, s := range inputs[i] {
				state, rest = dense(x, append(state, s.number, s.mark), units)
				each(state, tanh)
			}
			out, _ := dense(rest, state, 1)
			return square(float64(out[0]), sums[i])
		})}
}

// adapter returns the task of a low-rank change of a frozen layer, as in LoRA. x has the factor
// next to the inputs, which starts at random values, and the other factor, which starts at zero.
func adapter() task {
	const inputs, outputs, rank, samples = 40, 10, 4, 1000
	rng := source(42)
	change := make([]float64, outputs*inputs) // of a rank of 2
	for range 2 {
		left, right := normal(rng, outputs), normal(rng, inputs)
		for o := range left {
			for i := range right {
				change[o*inputs+i] += 0.3 * left[o] * right[i]
			}
		}
	}
	rows, wanted := make([][]float64, samples), make([][]float64, samples)
	for n := range rows {
		rows[n], wanted[n] = normal(rng, inputs), normal(rng, outputs)
		for o := range wanted[n] {
			wanted[n][o] *= 0.3
			for i, v := range rows[n] {
				wanted[n][o] += change[o*inputs+i] * v
			}
		}
	}
	return task{name: "adapter", what: "a change of rank 4 of a frozen layer", devices: 8,
		samples: samples, segments: []plan.Segment{
			{Name: "near", Len: rank * inputs, Fill: plan.UniformFill, Scale: 0.27},
			{Name: "far", Len: outputs * rank},
		},
		loss: mean(func(x []float32, n int) float64 {
			var inner [rank]float64
			for r := range inner {
				for i, v := range rows[n] {
					inner[r] += float64(x[r*inputs+i]) * v
				}
			}
			sum := 0.0
			for o, want := range wanted[n] {
				for r, v := range inner {
					want -= float64(x[rank*inputs+o*rank+r]) * v
				}
				sum += want * want
			}
			return sum
		})}
}

// factors returns the task of factoring a table of ratings of things by people.
func factors() task {
	const people, things, rank = 60, 40, 4
	rng := source(43)
	left, right := normal(rng, people*rank), normal(rng, things*rank)
	type rating struct {
		person, thing int
		value         float64
	}
	var seen []rating
	for p := range people {
		for t := range things {
			value := 0.2 * rng.NormFloat64()
			for r := range rank {
				value += left[p*rank+r] * right[t*rank+r] / 2
			}
			if rng.IntN(2) == 0 {
				seen = append(seen, rating{p, t, value})
			}
		}
	}
	return task{name: "factors", what: "the factors of a table of ratings", devices: 6,
		samples: len(seen), segments: []plan.Segment{{Name: "factors", Len: (people + things) * rank,
			Fill: plan.UniformFill, Scale: 0.3}},
		loss: mean(func(x []float32, i int) float64 {
			value := seen[i].value
			for r := range rank {
				value -= float64(x[seen[i].person*rank+r] * x[(people+seen[i].thing)*rank+r])
			}
			return value * value
		})}
}

// mixture returns the task of fitting a mixture of four normal distributions in the plane. x has
// the centers of the distributions, the logarithms of their widths, and the logarithms of their
// shares.
func mixture() task {
	const parts, samples = 4, 1000
	rng := source(44)
	centers, points := normal(rng, 2*parts), make([][2]float64, samples)
	for i := range points {
		k := rng.IntN(parts)
		for j := range points[i] {
			points[i][j] = 2*centers[2*k+j] + 0.4*rng.NormFloat64()
		}
	}
	return task{name: "mixture", what: "the likelihood of four normal distributions", devices: 5,
		samples: samples, segments: []plan.Segment{
			{Name: "centers", Len: 2 * parts, Fill: plan.UniformFill, Scale: 1.5},
			{Name: "rest", Len: 2 * parts},
		},
		loss: mean(func(x []float32, i int) float64 {
			scores, shares := make([]float64, parts), make([]float64, parts)
			for k := range scores {
				width := float64(x[2*parts+k])
				shares[k] = float64(x[3*parts+k])
				far := 0.0
				for j, at := range points[i] {
					far += square(at, float64(x[2*k+j]))
				}
				scores[k] = shares[k] - far/2*math.Exp(-2*width) - 2*width
			}
			return total(shares) - total(scores) + math.Log(2*math.Pi)
		})}
}

// total returns the logarithm of a sum, given the logarithms of its terms.
func total(v []float64) float64 { return entropy(v, 0) + v[0] }
