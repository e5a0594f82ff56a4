package surrogate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/internal/surrogate"
)

// These are the sizes of the paper's appendix G, with a window.
const (
	benchWindow     = 1000
	benchDim        = 300
	benchFeatures   = 10_000
	benchArrivals   = 6 // the iterate and five active queries
	benchCandidates = 100
	benchNoise      = 1e-6
)

// A bench is the state of a client in the middle of a run, with a full window.
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

// move makes a step of Adam, 0.01 in each coordinate, and adds the queries there.
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

// surrogate makes the operations of a local iteration.
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

// BenchmarkIteration is a local iteration of FZooS at n=1000, d=300, M=10,000: it adds six points,
// computes the uncertainty at a hundred candidates, and computes the gradient and its correction.
// It also computes the weights, although a client does that only once a round.
func BenchmarkIteration(b *testing.B) {
	s := newBench()
	for b.Loop() {
		s.move()
		s.surrogate()
	}
}

// BenchmarkRefit is the same iteration, but computes everything from the points each time.
func BenchmarkRefit(b *testing.B) {
	s := newBench()
	for b.Loop() {
		s.move()
		s.refit()
	}
}

// BenchmarkRatio times surrogate and refit, one after the other, and fails if their answers differ.
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
