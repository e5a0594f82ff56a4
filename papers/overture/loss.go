package overture

import (
	"math"
	"math/rand/v2"

	"github.com/zofl/zofl/papers/run"
)

// A loss makes problems of any number of parameters. All start at zero.
type loss struct {
	name  string
	noise float64 // of each evaluation, as a share of the first gap
	make  func(rng *rand.Rand, dim, devices int, unlike bool) problem
}

// A problem has the losses of devices, and the least value of their mean.
type problem struct {
	loss  func(x []float64, device int) float64
	least float64
}

var allLosses = []loss{
	{"ell3", 0, func(rng *rand.Rand, dim, devices int, unlike bool) problem {
		return quadratic(rng, dim, 3, devices, unlike)
	}},
	{"rosen", 0, func(_ *rand.Rand, dim, _ int, _ bool) problem {
		return problem{func(x []float64, _ int) float64 { return rosenbrock(x) }, 0}
	}},
	{"softmax", 0, func(rng *rand.Rand, dim, _ int, _ bool) problem { return softmax(rng, dim) }},
	{"noisy", 0.01, func(rng *rand.Rand, dim, devices int, unlike bool) problem {
		return quadratic(rng, dim, 1, devices, unlike)
	}},
}

// of returns the loss as a task. Its metric is the share of the first gap that is left.
func (l *loss) of(dim int, f fleet, seed uint64) run.Task {
	rng := rand.New(rand.NewPCG(seed, uint64(dim)))
	p := l.make(rng, dim, f.devices, f.unlike)
	mean := func(x []float64) (sum float64) {
		for i := range f.devices {
			sum += p.loss(x, i) / float64(f.devices)
		}
		return sum
	}
	gap := mean(make([]float64, dim)) - p.least
	noises := make([]*rand.Rand, f.devices)
	for i := range noises {
		noises[i] = rand.New(rand.NewPCG(seed, uint64(i)))
	}
	return run.Task{
		Dim: dim,
		Loss: func(params []float32, samples []int) float64 {
			i := samples[0]
			v := p.loss(wide(params), i)
			if l.noise > 0 {
				v += l.noise * gap * noises[i].NormFloat64()
			}
			return v
		},
		Metrics: []string{"left"},
		Measure: func(params []float32) []float64 {
			return []float64{(mean(wide(params)) - p.least) / gap}
		},
	}
}

func wide(x []float32) []float64 {
	v := make([]float64, len(x))
	for i, e := range x {
		v[i] = float64(e)
	}
	return v
}

// quadratic returns 0.5 sum l_i (Q (x-o))_i^2 with curvatures l from 10^-decades to 1, a random
// rotation Q and an optimum o of normal numbers. Unlike devices have other curvatures, and optima
// that differ by half as much.
func quadratic(rng *rand.Rand, dim, decades, devices int, unlike bool) problem {
	q, o := rotation(rng, dim), normal(rng, dim)
	scales, optima := make([][]float64, devices), make([][]float64, devices)
	for d := range devices {
		scales[d], optima[d] = make([]float64, dim), make([]float64, dim)
		for i := range dim {
			scales[d][i] = math.Pow(10, float64(decades)*(float64(i)/float64(dim-1)-1))
			optima[d][i] = dot(q[i], o)
			if unlike {
				scales[d][i] *= math.Exp(0.7 * rng.NormFloat64())
				optima[d][i] += 0.5 * rng.NormFloat64()
			}
		}
	}
	least := 0.0
	for i := range dim { // the mean's optimum is the weighted mean, axis by axis
		sum, at := 0.0, 0.0
		for d := range devices {
			sum += scales[d][i]
			at += scales[d][i] * optima[d][i]
		}
		for d := range devices {
			least += 0.5 * scales[d][i] * square(optima[d][i]-at/sum) / float64(devices)
		}
	}
	return problem{func(x []float64, d int) (sum float64) {
		for i, axis := range q {
			sum += 0.5 * scales[d][i] * square(dot(axis, x)-optima[d][i])
		}
		return sum
	}, least}
}

func rosenbrock(x []float64) (sum float64) {
	for i := range len(x) - 1 {
		sum += 100*square(x[i+1]-x[i]*x[i]) + square(1-x[i])
	}
	return sum
}

// softmax returns a classifier of 400 drawn samples, of 2 classes up to 6 parameters, 5 up to 50,
// and 10 beyond, with a small decay.
func softmax(rng *rand.Rand, dim int) problem {
	const samples, decay = 400, 0.0005
	classes := 10
	if dim <= 6 {
		classes = 2
	} else if dim <= 50 {
		classes = 5
	}
	features := dim / classes
	truth := normal(rng, dim)
	rows, labels := make([][]float64, samples), make([]int, samples)
	for n := range rows {
		rows[n] = normal(rng, features)
		best := math.Inf(-1)
		for c := range classes {
			score := dot(truth[c*features:(c+1)*features], rows[n]) -
				math.Log(-math.Log(1-rng.Float64()))
			if score > best {
				best, labels[n] = score, c
			}
		}
	}
	// at returns the loss at x and, unless grad is nil, adds its gradient to grad.
	at := func(x, grad []float64) (sum float64) {
		scores := make([]float64, classes)
		for n, row := range rows {
			most := math.Inf(-1)
			for c := range scores {
				scores[c] = dot(x[c*features:(c+1)*features], row)
				most = max(most, scores[c])
			}
			all := 0.0
			for _, s := range scores {
				all += math.Exp(s - most)
			}
			sum += (most + math.Log(all) - scores[labels[n]]) / samples
			for c := range scores {
				if grad == nil {
					break
				}
				p := math.Exp(scores[c]-most) / all
				if c == labels[n] {
					p--
				}
				for i, v := range row {
					grad[c*features+i] += p * v / samples
				}
			}
		}
		for i, v := range x {
			sum += decay * v * v
			if grad != nil {
				grad[i] += 2 * decay * v
			}
		}
		return sum
	}
	return problem{func(x []float64, _ int) float64 { return at(x, nil) }, least(at, dim)}
}

// least returns the least value of a smooth convex loss, by accelerated gradient descent.
func least(at func(x, grad []float64) float64, dim int) float64 {
	const step, steps = 1.0, 1500
	x, y, grad := make([]float64, dim), make([]float64, dim), make([]float64, dim)
	for k := range steps {
		clear(grad)
		at(y, grad)
		for i := range x {
			next := y[i] - step*grad[i]
			y[i] = next + float64(k)/float64(k+3)*(next-x[i])
			x[i] = next
		}
	}
	return at(x, nil)
}

// rotation returns the rows of a random rotation, by Gram and Schmidt.
func rotation(rng *rand.Rand, dim int) [][]float64 {
	q := make([][]float64, dim)
	for i := range q {
		q[i] = normal(rng, dim)
		for range 2 { // once more, for rounding
			for _, other := range q[:i] {
				along := dot(q[i], other)
				for j := range q[i] {
					q[i][j] -= along * other[j]
				}
			}
		}
		length := math.Sqrt(dot(q[i], q[i]))
		for j := range q[i] {
			q[i][j] /= length
		}
	}
	return q
}

func normal(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func square(v float64) float64 { return v * v }
