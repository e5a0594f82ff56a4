package ideas

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/zofl/zofl/plan"
)

// A diagonal holds the D of a [Shape], and multiplies directions by it.
type diagonal struct {
	v     []float64 // what it is made of
	root  []float32 // of D; nil: 1
	moves bool      // D is for moves alone
	exact []float64 // sum of the round's gradients
	seen  int
}

const (
	diagonalBeta = 0.98
	usualLeast   = 0.1 // for dead pixels
)

// moved returns a move times the D of moves.
func (d *diagonal) moved(m []float32) []float32 {
	for i := range m {
		if d.moves && d.root != nil {
			m[i] *= d.root[i] * d.root[i]
		}
	}
	return m
}

// shaped returns g times the root of the D of directions.
func (d *diagonal) shaped(g []float32) []float32 {
	if d.root == nil || d.moves {
		return g
	}
	out := make([]float32, len(g))
	for i, v := range g {
		out[i] = v * d.root[i]
	}
	return out
}

// see adds a device's gradient to the statistics of [Exact].
func (d *diagonal) see(g []float32) {
	if d.exact == nil {
		d.exact = make([]float64, len(g))
	}
	for i, v := range g {
		d.exact[i] += float64(v)
	}
	d.seen++
}

// learn updates v with a round's scalars, whose estimate along the shaped directions is g. The
// directions of the next round use the new v.
func (d *diagonal) learn(a *Arm, list []summand, g []float32) {
	square := func(i int) float64 { return 0 }
	switch a.Shape.Of {
	case Nothing, Hessian:
		return
	case Rounds:
		square = func(i int) float64 { return float64(g[i]) * float64(g[i]) / d.at(i) }
	case Halves:
		half := len(list) / 2
		one := sum(len(g), 1/float64(count(list[:half])), list[:half])
		two := sum(len(g), 1/float64(count(list[half:])), list[half:])
		square = func(i int) float64 { return float64(one[i]) * float64(two[i]) / d.at(i) }
	case Exact:
		square = func(i int) float64 {
			v := d.exact[i] / float64(d.seen)
			return v * v
		}
	}
	if d.v == nil {
		d.v = make([]float64, len(g))
	}
	for i := range d.v {
		d.v[i] = diagonalBeta*d.v[i] + (1-diagonalBeta)*square(i)
	}
	clear(d.exact)
	d.seen = 0
	d.set(d.v, &a.Shape)
}

// at returns the factor by which directions multiply a square.
func (d *diagonal) at(i int) float64 {
	if d.root == nil || d.moves {
		return 1
	}
	return float64(d.root[i]) * float64(d.root[i])
}

// set makes D of v.
func (d *diagonal) set(v []float64, s *Shape) {
	least := 0.0
	for _, x := range v {
		least += max(x, 0) * cmp.Or(s.Least, usualLeast) / float64(len(v))
	}
	all, total := make([]float64, len(v)), 0.0
	for i, x := range v {
		all[i] = math.Pow(max(x, least), s.Power)
		total += all[i]
	}
	d.root = make([]float32, len(v))
	for i, x := range all {
		d.root[i] = float32(math.Sqrt(x * float64(len(v)) / total))
	}
}

const (
	surveys    = 4 // of a run
	surveyRows = 1000
	surveyed   = 24 // directions
	reach      = 1e-2
)

// survey measures the gradient and the diagonal of the Hessian, if an arm uses these, at equal
// intervals of the budget. A survey costs nothing of the budget: an idea that loses even with a
// free survey would lose with a paid one.
func (t *trial) survey(part float64) {
	if t.Shape.Of != Hessian && t.Layers.Power == 0 || part*surveys < float64(t.surveyed) {
		return
	}
	rng := rand.New(rand.NewPCG(t.Seed, uint64(t.surveyed)))
	t.surveyed++
	rows := rng.Perm(t.Train.Len())[:min(surveyRows, t.Train.Len())]
	h := t.hessian(rng, rows)
	if t.Shape.Of == Hessian {
		t.diagonal.set(h, &t.Shape)
		return
	}
	g := make([]float32, len(t.x))
	t.Train.Gradient(g, t.x, rows)
	t.layers = layersOf(t.Train.Segments(), g, h, t.Layers.Power)
}

// hessian returns the mean of z * H z, which is the diagonal of the Hessian H plus noise.
func (t *trial) hessian(rng *rand.Rand, rows []int) []float64 {
	h := make([]float64, len(t.x))
	z, up, down := make([]float32, len(h)), make([]float32, len(h)), make([]float32, len(h))
	point := func(g []float32, by float32) {
		x := append([]float32(nil), t.x...)
		for i := range x {
			x[i] += by * z[i]
		}
		clear(g)
		t.Train.Gradient(g, x, rows)
	}
	for range surveyed {
		for i := range z {
			z[i] = float32(1 - 2*rng.IntN(2))
		}
		point(up, reach)
		point(down, -reach)
		for i := range h {
			h[i] += float64(z[i]*(up[i]-down[i])) / (2 * reach * surveyed)
		}
	}
	return h
}

// most is the largest ratio between the factors of two layers.
const most = 16

// layersOf returns a factor for each element, with mean 1: (|g|^2 / trace h) of the element's
// layer, to a power.
func layersOf(layers []plan.Segment, g []float32, h []float64, power float64) []float32 {
	var by []float64
	from, top := 0, 0.0
	for _, s := range layers {
		squares, trace := 0.0, 0.0
		for i := from; i < from+int(s.Len); i++ {
			squares += float64(g[i]) * float64(g[i])
			trace += h[i]
		}
		from += int(s.Len)
		v := math.Pow(squares/max(trace, 1e-6), power)
		by, top = append(by, v), max(top, v)
	}
	total := 0.0
	for i, s := range layers {
		by[i] = max(by[i], top/most)
		total += by[i] * float64(s.Len) / float64(len(g))
	}
	var out []float32
	for i, s := range layers {
		for range s.Len {
			out = append(out, float32(by[i]/total))
		}
	}
	return out
}

// lastLayer returns a factor for each element: factor for the weights and biases of the last
// layer, 1 for the others. A nil result means 1 for all elements.
func lastLayer(layers []plan.Segment, factor float64) []float32 {
	if factor == 0 {
		return nil
	}
	out := ofLast(layers)
	for i, last := range out {
		out[i] = 1 + last*float32(factor-1)
	}
	return out
}

// ofLast returns 1 for the elements of the last weights and biases, and 0 for the others.
func ofLast(layers []plan.Segment) (out []float32) {
	for i, s := range layers {
		by := float32(0)
		if i >= len(layers)-2 && (i > 0 || len(layers) > 2) {
			by = 1
		}
		for range s.Len {
			out = append(out, by)
		}
	}
	return out
}
