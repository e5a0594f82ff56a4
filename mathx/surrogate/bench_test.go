package surrogate_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/mathx/surrogate"
)

// The size that FZooS is meant for: appendix G of the paper with a window.
const (
	benchWindow     = 1000
	benchDim        = 300
	benchFeatures   = 10_000
	benchArrivals   = 6 // the iterate and five active queries
	benchCandidates = 100
	benchNoise      = 1e-6
)

// A bench is a client in the middle of a run, with a full window.
type bench struct {
	cloud      *cloud
	points     [][]float64 // the latest benchWindow
	features   *surrogate.Features
	process    *surrogate.Process
	fit        *surrogate.Fit
	global     []float64 // the mean of all clients' weights
	candidates [][]float64
}

func newBench() *bench {
	b := &bench{
		cloud:    newCloud(60, benchDim, 0.01),
		features: newFeatures(60, benchFeatures, benchDim, 1),
		process: surrogate.New(surrogate.Config{
			Dim: benchDim, Window: benchWindow, LengthScale: 1, Noise: benchNoise,
		}),
		global: make([]float64, benchFeatures),
	}
	b.fit = surrogate.NewFit(b.features, benchWindow, benchNoise)
	for range benchWindow / benchArrivals {
		b.move()
	}
	for len(b.points) < benchWindow {
		b.arrive()
	}
	b.fit.Weights(b.global)
	b.surrogate()
	return b
}

// move is a step of Adam, 0.01 in each coordinate, and the queries there.
func (b *bench) move() {
	for i := range b.cloud.center {
		b.cloud.center[i] += 0.01 * float64(2*b.cloud.IntN(2)-1)
	}
	for range benchArrivals {
		b.arrive()
	}
	b.candidates = queries(b.cloud, benchCandidates)
}

func (b *bench) arrive() {
	x := b.cloud.point()
	b.points = append(b.points, x)
	b.points = b.points[max(0, len(b.points)-benchWindow):]
	b.process.Add(x, quadratic(x))
	b.fit.Add(x, quadratic(x))
}

// surrogate is what an iteration asks for.
func (b *bench) surrogate() (gradient, uncertainty, w []float64) {
	x := b.cloud.center
	uncertainty, gradient = make([]float64, benchCandidates), make([]float64, benchDim)
	b.process.Uncertainty(uncertainty, b.candidates)
	b.process.Gradient(gradient, x)
	w = make([]float64, benchFeatures)
	b.fit.Weights(w)
	addCorrection(b.features, gradient, x, b.global, w)
	return gradient, uncertainty, w
}

// addCorrection adds the global surrogate's gradient less the client's own.
func addCorrection(f *surrogate.Features, gradient, x, global, own []float64) {
	g := make([]float64, len(gradient))
	f.Gradient(g, x, difference(global, own))
	for i, v := range g {
		gradient[i] += v
	}
}

// BenchmarkIteration is a local iteration of FZooS at n=1000, d=300, M=10,000:
// six points arrive, a hundred candidates are weighed, the gradient is asked for
// and corrected. The weights are asked for every time, which a client does once a
// round.
func BenchmarkIteration(b *testing.B) {
	s := newBench()
	for b.Loop() {
		s.move()
		s.surrogate()
	}
}

// BenchmarkRefit is the same with all of it made anew from the points.
func BenchmarkRefit(b *testing.B) {
	s := newBench()
	for b.Loop() {
		s.move()
		s.refit()
	}
}

// BenchmarkRatio times one after the other, and fails if their answers differ.
func BenchmarkRatio(b *testing.B) {
	s := newBench()
	var ratios, own, dense []float64
	for b.Loop() {
		start := time.Now()
		s.move()
		gradient, uncertainty, w := s.surrogate()
		middle := time.Now()
		wantGradient, wantUncertainty, wantW := s.refit()
		own = append(own, middle.Sub(start).Seconds())
		dense = append(dense, time.Since(middle).Seconds())
		ratios = append(ratios, dense[len(dense)-1]/own[len(own)-1])
		agree(b, "gradient", gradient, wantGradient, 1e-5)
		agree(b, "uncertainty", uncertainty, wantUncertainty, 1e-5)
		agree(b, "weights", w, wantW, 1e-5)
	}
	b.ReportMetric(median(ratios), "x")
	b.ReportMetric(median(own), "s/iteration")
	b.ReportMetric(median(dense), "s/refit")
	b.ReportMetric(0, "ns/op")
}

func agree(b *testing.B, what string, got, want []float64, tolerance float64) {
	if e := norm(difference(got, want)); !(e <= tolerance*norm(want)) {
		b.Errorf("%s: got an error of %.3g of length %.3g", what, e, norm(want))
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// refit is the plain way to the answers of surrogate: the matrices and their
// factors anew, and for each candidate Dim triangular solves.
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

// inner is as fast as the package's own: four sums.
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
