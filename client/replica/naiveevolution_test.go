package replica

import (
	"math"
	"sort"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A naiveEvolution is the state of server_rule=cma: m[i][j] is M, or with a limited covariance row
// i of V.
type naiveEvolution struct {
	limited bool
	sigma   float64
	records uint64
	v, p    []float32 // v: with boxes
	m       [][]float32
}

func newNaiveEvolution(f *naive) *naiveEvolution {
	d := int(f.p.Dim)
	e := &naiveEvolution{limited: f.p.Covariance == plan.LimitedCovariance,
		sigma: float64(f.p.StepSize), p: make([]float32, d)}
	rows := d
	if e.limited {
		rows = 4 + int(3*math.Log(float64(d)))
	}
	for i := range rows {
		e.m = append(e.m, make([]float32, d))
		if !e.limited {
			e.m[i][i] = 1
		}
	}
	for i, x := range f.x {
		if box, ok := f.box(i); ok {
			u := (float64(x) - float64(box.Low)) / (float64(box.High) - float64(box.Low))
			if u < 0.05 {
				u = math.Sqrt(0.2*u) - 0.05
			} else if u > 0.95 {
				u = 1.05 - math.Sqrt(0.2*(1-u))
			}
			e.v = append(e.v, float32(u))
		}
	}
	return e
}

// at returns element i of the parameters at distance y, and of the unfolded ones.
func (f *naive) at(i int, y float64) (x, v float32) {
	sigma := f.cma.sigma * float64(f.scale(i))
	if f.cma.v == nil {
		return float32(float64(f.x[i]) + float64(sigma*y)), 0
	}
	to := float64(f.cma.v[i]) + float64(sigma*y)
	return f.inBox(i, to), float32(to)
}

// inBox folds v into the box of element i.
func (f *naive) inBox(i int, v float64) float32 {
	s := v + 0.05
	for n := math.Floor(s / 2.2); n != 0; n = 0 {
		s -= float64(2.2 * n)
	}
	if s > 1.1 {
		s = 2.2 - s
	}
	if s -= 0.05; s < 0.05 {
		s = float64((s+0.05)*(s+0.05)) / 0.2
	} else if s > 0.95 {
		s = 1 - float64((1.05-s)*(1.05-s))/0.2
	}
	box, _ := f.box(i)
	return f.boxed(i, float32(float64(box.Low)+float64((float64(box.High)-float64(box.Low))*s)))
}

// candidate returns z and y of candidate k of record n.
func (f *naive) candidate(n uint64, k int) (z []float32, y []float64) {
	d := int(f.p.Dim)
	z, y = make([]float32, d), make([]float64, d)
	prng.Fill(z, prng.Direction{Key: prng.RecordKey(f.runKey, n), Perturbation: uint16(k),
		Dist: prng.Normal}, 0)
	if !f.cma.limited {
		for i := range y {
			for j := range z {
				y[i] += float64(float64(f.cma.m[i][j]) * float64(z[j]))
			}
		}
		return z, y
	}
	for i := range y {
		y[i] = float64(z[i])
	}
	for r := 0; r < len(f.cma.m) && uint64(r) < f.cma.records; r++ {
		power, dot := 1.0, 0.0
		for range r {
			power *= 1.5
		}
		q := 1 / float64(power*float64(d))
		for i := range y {
			dot += float64(float64(f.cma.m[r][i]) * y[i])
		}
		for i := range y {
			y[i] = float64((1-q)*y[i]) + float64(float64(q*dot)*float64(f.cma.m[r][i]))
		}
	}
	return z, y
}

// evolve applies a record of losses.
func (f *naive) evolve(n uint64, r *wire.Round) {
	losses := f.p.TermPrecision().Values(r.Terms[0].Scalars, 1, int(r.Perturbations))
	order := make([]int, len(losses))
	for k := range order {
		order[k] = k
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := losses[order[a]], losses[order[b]]
		return x < y || y != y && x == x && !math.IsInf(float64(x), 1)
	})
	e, d, w := f.cma, float64(f.p.Dim), naiveWeightsOf(len(losses), int(f.p.Dim))
	var z [][]float32
	var y [][]float64
	for _, k := range order {
		a, b := f.candidate(n, k)
		z, y = append(z, a), append(y, b)
	}
	if e.limited {
		w.cs = min(1, float64(2*len(losses))/d)
	}
	gain := func(c float64) float64 { return math.Sqrt(float64(float64(w.mass*c) * (2 - c))) }
	zw, p, square := make([]float64, len(f.x)), make([]float64, len(f.x)), 0.0
	for i := range f.x {
		yw := 0.0
		for r := range len(losses) / 2 {
			zw[i] += float64(w.w[r] * float64(z[r][i]))
			yw += float64(w.w[r] * y[r][i])
		}
		x, v := f.at(i, yw)
		if f.x[i] = x; e.v != nil {
			e.v[i], f.x[i] = v, f.inBox(i, float64(v))
		}
		p[i] = float64((1-w.cs)*float64(e.p[i])) + float64(gain(w.cs)*zw[i])
		e.p[i] = float32(p[i])
		square += float64(p[i] * p[i])
	}
	u := float64(w.cs / 2 * (square/d - 1))
	if e.limited {
		for r := range e.m {
			c := 1.0
			for range r {
				c *= 4
			}
			c = min(1, float64(f.p.Perturbations)/float64(c*d))
			for i := range f.x {
				e.m[r][i] = float32(float64((1-c)*float64(e.m[r][i])) + float64(gain(c)*zw[i]))
			}
		}
		e.records++
	} else {
		length := float64(math.Sqrt(d) * (1 - 1/(4*d) + 1/float64(21*float64(d*d))))
		u = float64(w.cs / w.damp * (math.Sqrt(square)/length - 1))
		e.learn(w, p, z, y)
	}
	u = min(max(u, -1), 1)
	e.sigma *= (1 + float64(u*u)/12 + u/2) / (1 + float64(u*u)/12 - u/2)
	f.rounds = r.Round
}

// learn computes the next M, element by element.
func (e *naiveEvolution) learn(w naiveWeights, p []float64, z [][]float32, y [][]float64) {
	d, sum := float64(len(p)), 0.0
	v := append([]float64(nil), w.w...)
	for r := range v {
		sum += w.w[r]
		if v[r] < 0 {
			norm := 0.0
			for _, e := range z[r] {
				norm += float64(float64(e) * float64(e))
			}
			v[r] = float64(v[r]*d) / norm
		}
	}
	for i := range p {
		along := 0.0
		for j := range p {
			along += float64(float64(e.m[i][j]) * p[j])
		}
		for j := range p {
			t := float64((1-w.c1/2-float64(w.cw/2*sum))*float64(e.m[i][j])) +
				float64(float64(w.c1/2*p[j])*along)
			for r := range v {
				t += float64(float64(float64(w.cw/2*v[r])*float64(z[r][j])) * y[r][i])
			}
			e.m[i][j] = float32(t)
		}
	}
}

// naiveWeights are the weights and rates of a record.
type naiveWeights struct {
	w                      []float64
	mass, c1, cw, cs, damp float64
}

func naiveWeightsOf(lambda, dim int) (n naiveWeights) {
	d, half := float64(dim), lambda/2
	h := func(n int) (s float64) {
		for j := 1; j <= n; j++ {
			s += 1 / (float64(j) + 0.5)
		}
		return s
	}
	c := h(half)
	if lambda%2 == 0 {
		c = 0.5 * (h(half) + h(half-1))
	}
	var plus, minus, plus2, minus2 float64
	for r := range lambda {
		w := c - h(r)
		if r < half {
			plus += w
			plus2 += float64(w * w)
		} else {
			w = math.Min(w, 0)
			minus += w
			minus2 += float64(w * w)
		}
		n.w = append(n.w, w)
	}
	n.mass = float64(plus*plus) / plus2
	n.c1 = 2 / (float64((d+1.3)*(d+1.3)) + n.mass)
	n.cw = math.Min(1-n.c1, float64(2*(n.mass-2+1/n.mass))/(float64((d+2)*(d+2))+n.mass))
	a := math.Min(1+n.c1/n.cw, math.Min(
		1+float64(2*(float64(minus*minus)/minus2))/(n.mass+2), (1-n.c1-n.cw)/float64(d*n.cw)))
	for r := range n.w {
		if r < half {
			n.w[r] /= plus
		} else {
			n.w[r] = float64(a*n.w[r]) / -minus
		}
	}
	n.cs = (n.mass + 2) / (n.mass + d + 5)
	n.damp = 1 + n.cs + float64(2*math.Max(0, math.Sqrt((n.mass-1)/(d+1))-1))
	return n
}

// vectors returns the vectors beside x. The rows of a full covariance are the columns of M.
func (e *naiveEvolution) vectors() (list [][]float32) {
	if e.v != nil {
		list = append(list, e.v)
	}
	list = append(list, e.p)
	if e.limited {
		return append(list, e.m...)
	}
	for j := range e.m {
		column := make([]float32, len(e.m))
		for i := range e.m {
			column[i] = e.m[i][j]
		}
		list = append(list, column)
	}
	return list
}
