package surrogate_test

import (
	"math"
	"slices"
)

// refit computes the same results as surrogate without reuse: with new matrices and factors, and
// Dim triangular solves for each candidate.
func (b *bench) refit() (gradient, uncertainty, w []float64) {
	n, x := len(b.points), b.cloud.center
	y, mean := make([]float64, n), 0.0
	for i, p := range b.points {
		y[i] = quadratic(p)
		mean += y[i] / float64(n)
	}
	for i := range y {
		y[i] -= mean
	}
	l := denseFactor(n, func(i, j int) float64 { return gauss(b.points[i], b.points[j]) })
	gradient = make([]float64, benchDim)
	a := denseSolve(l, y)
	for i, p := range b.points {
		c := a[i] * gauss(x, p)
		for k := range gradient {
			gradient[k] += c * (p[k] - x[k])
		}
	}
	for _, candidate := range b.candidates {
		uncertainty = append(uncertainty, b.denseTrace(l, candidate))
	}
	w = b.denseWeights(y)
	addCorrection(b.features, gradient, x, b.global, w)
	return gradient, uncertainty, w
}

func (b *bench) denseTrace(l [][]float64, x []float64) float64 {
	trace, column := float64(benchDim), make([]float64, len(b.points))
	slopes := make([]float64, len(b.points))
	for i, p := range b.points {
		slopes[i] = gauss(x, p)
	}
	for k := range x {
		for i, p := range b.points {
			column[i] = slopes[i] * (p[k] - x[k])
		}
		forward(l, column)
		trace -= inner(column, column)
	}
	return trace
}

func (b *bench) denseWeights(y []float64) []float64 {
	phi := make([][]float64, len(b.points))
	for i, p := range b.points {
		phi[i] = make([]float64, benchFeatures)
		b.features.Map(phi[i], p)
	}
	l := denseFactor(len(phi), func(i, j int) float64 { return inner(phi[i], phi[j]) })
	w := make([]float64, benchFeatures)
	for i, a := range denseSolve(l, y) {
		for j, v := range phi[i] {
			w[j] += a * v
		}
	}
	return w
}

// denseFactor returns the Cholesky factor of a kernel matrix with noise.
func denseFactor(n int, kernel func(i, j int) float64) [][]float64 {
	l := make([][]float64, n)
	for i := range l {
		l[i] = make([]float64, i+1)
		for j := range i {
			l[i][j] = (kernel(i, j) - inner(l[i][:j], l[j][:j])) / l[j][j]
		}
		l[i][i] = math.Sqrt(kernel(i, i) + benchNoise - inner(l[i][:i], l[i][:i]))
	}
	return l
}

// forward sets z to L^-1 z.
func forward(l [][]float64, z []float64) {
	for i, row := range l {
		z[i] = (z[i] - inner(row[:i], z[:i])) / row[i]
	}
}

// denseSolve returns (L L^T)^-1 b.
func denseSolve(l [][]float64, b []float64) []float64 {
	z := slices.Clone(b)
	forward(l, z)
	for i := len(l) - 1; i >= 0; i-- {
		z[i] /= l[i][i]
		for j := range i {
			z[j] -= z[i] * l[i][j]
		}
	}
	return z
}

func gauss(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Exp(-sum / 2)
}

// inner returns the inner product. It uses four sums, and is as fast as the package's own function.
func inner(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += v * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}
