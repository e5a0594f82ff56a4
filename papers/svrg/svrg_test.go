package svrg

import (
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
)

// TestZOSVRG runs the short form of the experiment, whose claims all hold.
func TestZOSVRG(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, Experiment(), &lab.Env{Short: true})
	labtest.AllHold(t, r, 4)
	if n := len(r.Figure.Lines); n != len(arms)*len(lengths) {
		t.Errorf("%d curves, want %d", n, len(arms)*len(lengths))
	}
}

// TestLeastSquares: the gradient is that of the losses, and the least value is nowhere undercut.
func TestLeastSquares(t *testing.T) {
	q := newLeastSquares(1)
	task, x := q.task(), make([]float32, dim)
	for i := range x {
		x[i] = 1 + float32(i%3)/8
	}
	samples := []int{3, 700, 999}
	g := make([]float32, dim)
	task.Gradient(g, x, samples)
	for i := range x {
		moved := func(by float32) float64 {
			y := slices.Clone(x)
			y[i] += by
			return task.Loss(y, samples)
		}
		const mu = 1. / 64
		if want := (moved(mu) - moved(-mu)) / (2 * mu); !(math.Abs(float64(g[i])-want) < 1e-5) {
			t.Errorf("element %d of the gradient is %v, want %v", i, g[i], want)
		}
	}
	if at := task.Measure(x)[0]; !(at > 0.01) {
		t.Errorf("F - F* = %v away from the minimum", at)
	}
}
