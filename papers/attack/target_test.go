package attack

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/models"
)

func newTarget(t testing.TB) (*Target, []int) {
	m := New(data.Digits(400, 5))
	var list []int
	for i, label := range m.images.Labels {
		if label == 4 {
			list = append(list, i)
		}
	}
	if len(list) < chunk+3 {
		t.Fatalf("%d images of the class are too few", len(list))
	}
	params := models.Initial(m, 7)
	for i := m.dense; i < m.dim; i++ {
		params[i] *= 10 // logits that are apart
	}
	target := NewTarget(m, params, list, 4, 0.5)
	level(target)
	return target, list
}

// level moves the bias of the class to where it is ahead in half of the images.
func level(target *Target) {
	var margins []float64
	x := make([]float32, target.Dim())
	for i := range target.Len() {
		ws := target.net.take(1)
		target.perturb(ws, x, []int{i})
		target.net.run(ws, target.params)
		margins = append(margins, target.margin(ws, 0))
		target.net.spaces.Put(ws)
	}
	slices.Sort(margins)
	m := target.net
	target.params[m.dim-m.images.Classes+target.class] -= float32(margins[len(margins)/2])
}

func random(n int, scale float64, seed uint64) []float32 {
	rng, x := rand.New(rand.NewPCG(seed, 1)), make([]float32, n)
	for i := range x {
		x[i] = float32(scale * rng.NormFloat64())
	}
	return x
}

// TestFigures holds figures and loss to the paper's formula.
func TestFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	target, list := newTarget(t)
	m := target.net
	mixed := 0
	for _, scale := range []float64{0, 0.1, 1, 10} {
		x := random(target.Dim(), scale, 3)
		batch := sequence(2, len(list)-1)
		want := Figures{}
		for _, at := range batch {
			z := func(i int) float64 { return float64(m.images.At(list[at])[i])/255 - .5 }
			moved := func(i int) float64 {
				return .5 * math.Tanh(math.Atanh(min(max(2*z(i), -1+1e-6), 1-1e-6))+float64(x[i]))
			}
			logits := naive(m, target.params, func(y, x int) float64 { return moved(y*28 + x) })
			other := math.Inf(-1)
			for c, l := range logits {
				if c != 4 {
					other = max(other, l)
				}
			}
			want.Attack += max(logits[4]-other, 0) / float64(len(batch))
			if logits[4] < other {
				want.Success += 1 / float64(len(batch))
			}
			for i := range x {
				want.Distortion += (moved(i) - z(i)) * (moved(i) - z(i)) / float64(len(batch))
			}
		}
		got, loss := target.Figures(x, batch), target.Loss(x, batch)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-4+1e-6*math.Abs(b) }
		if !near(got.Attack, want.Attack) || !near(got.Success, want.Success) ||
			!near(got.Distortion, want.Distortion) ||
			!near(loss, want.Attack+want.Distortion/2) {
			t.Errorf("x of %v: got %+v and loss %v, want %+v", scale, got, loss, want)
		}
		if want.Attack > 0 && want.Success > 0 {
			mixed++
		}
	}
	if mixed < 2 {
		t.Errorf("the class is ahead in some images and behind in others for %d perturbations only",
			mixed)
	}
}

// TestLossAllocates: a fleet asks for millions of losses.
func TestLossAllocates(t *testing.T) {
	target, _ := newTarget(t)
	x, batch := random(target.Dim(), 1, 1), sequence(0, 25)
	if n := testing.AllocsPerRun(20, func() { target.Loss(x, batch) }); n > 1 {
		t.Errorf("%v allocations a loss", n)
	}
}

func BenchmarkTarget(b *testing.B) {
	target, _ := newTarget(b)
	x, batch := random(target.Dim(), 1, 1), sequence(0, 25)
	for b.Loop() {
		target.Loss(x, batch)
	}
	b.ReportMetric(float64(b.N)*float64(len(batch))/b.Elapsed().Seconds(), "images/s")
}
