package losses

import (
	"math"
	"math/rand/v2"
)

// A regression has rows of features and a target for each. x has a weight for each feature, and
// then a bias.
type regression struct {
	rows  [][]float64
	truth []float64
}

// regressionOf draws rows of features with the given scales. told draws each row's target from
// the row's true value.
func regressionOf(seed uint64, rows int, scales []float64,
	told func(rng *rand.Rand, value float64) float64) *regression {
	rng := source(seed)
	weights := normal(rng, len(scales))
	r := &regression{}
	for range rows {
		row, value := normal(rng, len(scales)), 0.3
		for j := range row {
			value += weights[j] * row[j] / math.Sqrt(float64(len(scales)))
			row[j] *= scales[j]
		}
		r.rows, r.truth = append(r.rows, row), append(r.truth, told(rng, value))
	}
	return r
}

// value returns the output of a model for row i.
func (r *regression) value(x []float32, i int) float64 {
	value := float64(x[len(x)-1])
	for j, v := range r.rows[i] {
		value += float64(x[j]) * v
	}
	return value
}

// task returns the task with a loss that depends on the model's value and the target.
func (r *regression) task(name, what string, devices int,
	loss func(value, truth float64) float64) task {
	return task{name: name, what: what, dim: len(r.rows[0]) + 1, devices: devices,
		samples: len(r.rows), loss: mean(func(x []float32, i int) float64 {
			return loss(r.value(x, i), r.truth[i])
		})}
}

func regressions() []task {
	noisy := func(rng *rand.Rand, value float64) float64 { return value + 0.3*rng.NormFloat64() }
	return []task{
		regressionOf(1, 1000, geometric(40, 0.05), noisy).
			task("squares", "least squares, 40 features whose scales fall from 1 to 0.05", 10, square),
		regressionOf(2, 1000, geometric(8, 1000), noisy).
			task("unscaled", "least squares, 8 features whose scales grow from 1 to 1000", 10, square),
		regressionOf(3, 1000, geometric(30, 1), outliers).
			task("outliers", "least squares, 5 % of the truths far off", 8, square),
		regressionOf(3, 1000, geometric(30, 1), outliers).
			task("absolute", "the absolute error, 5 % of the truths far off", 8,
				func(v, truth float64) float64 { return math.Abs(v - truth) }),
		regressionOf(4, 1000, geometric(20, 1), noisy).
			task("quantile", "the quantile 0.9 of a regression", 5, pinball),
		regressionOf(5, 1000, geometric(20, 1), counts).
			task("counts", "Poisson regression", 6,
				func(v, truth float64) float64 { return math.Exp(min(v, 20)) - truth*v }),
		regressionOf(6, 4000, geometric(30, 1), rarely).
			task("rare", "logistic regression, about 2 % positives", 10,
				func(v, truth float64) float64 { return softplus(v) - truth*v }),
	}
}

// geometric returns n scales from 1 to last.
func geometric(n int, last float64) []float64 {
	scales := make([]float64, n)
	for i := range scales {
		scales[i] = math.Pow(last, float64(i)/float64(n-1))
	}
	return scales
}

func outliers(rng *rand.Rand, value float64) float64 {
	if rng.Float64() < 0.05 {
		return value + 20*rng.NormFloat64()
	}
	return value + 0.1*rng.NormFloat64()
}

func rarely(rng *rand.Rand, value float64) float64 {
	if rng.Float64() < 1/(1+math.Exp(6-2*value)) {
		return 1
	}
	return 0
}

// counts draws from the Poisson distribution, by Knuth's product of uniform numbers.
func counts(rng *rand.Rand, value float64) float64 {
	n, product := -1, 1.0
	for limit := math.Exp(-math.Exp(value)); product > limit; n++ {
		product *= rng.Float64()
	}
	return float64(n)
}

func square(v, truth float64) float64 { return (v - truth) * (v - truth) }

func pinball(v, truth float64) float64 { return max(0.9*(truth-v), 0.1*(v-truth)) }

// softplus returns log(1 + e^v).
func softplus(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }
