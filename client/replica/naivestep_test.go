package replica

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// round applies a round.
func (f *naive) round(n uint64, r *wire.Round) {
	p := int(r.Perturbations)
	if f.p.Transport == plan.DenseVectors {
		f.dense(n, r)
		return
	}
	if r.Phase == 1 {
		f.pendingN, f.pending = n, f.p.TermPrecision().Values(r.Terms[0].Scalars, 1, p)
		return
	}
	if f.products != nil {
		f.normalized(n, r)
		return
	}
	if f.cma != nil {
		f.evolve(n, r)
		return
	}
	older := f.older(n, r)
	f.coefficients(n, r)
	base := slices.Clone(f.x)
	correction, variates := make([]float32, len(f.x)), make([]float32, len(f.x))
	for i := range f.x {
		variates[i] = f.sum(older, i)
		if correction[i] = variates[i]; f.p.Control == plan.ScaffoldMean {
			inverse := float32(0)
			if f.population > 0 {
				inverse = 1 / float32(f.population)
			}
			correction[i] = float32(inverse*f.control[i]) - variates[i]
		}
	}
	for k := range int(f.p.Steps) {
		terms := f.terms(n, k, r)
		for i := range f.x {
			f.step(i, f.sum(terms, i), correction[i], base[i], r)
		}
	}
	if f.p.Control == plan.ScaffoldMean {
		for i := range f.control {
			f.control[i] += float32(-float32(r.Contributors) * variates[i])
		}
		f.population = r.Population
	}
	for i := range f.x {
		f.serve(i, base[i], r)
	}
	f.finish(base)
}

// dense applies a round that names an object.
func (f *naive) dense(n uint64, r *wire.Round) {
	var v []float32
	for word := range slices.Chunk(f.objects[[wire.ObjectLen]byte(r.Object)], 4) {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(word)))
	}
	switch f.pendingN = 0; r.Phase {
	case 0:
		f.x = v
		if f.control != nil {
			f.x, f.control = v[:f.p.Dim], v[f.p.Dim:]
		}
	case 1:
		if f.pendingN = n; f.w != nil {
			f.x = v
		} else {
			f.control = v
		}
	case 2:
		if f.w != nil {
			f.w = v
		} else {
			f.x = v
		}
	}
}

// step makes a local step of element i along v.
func (f *naive) step(i int, v, correction, base float32, r *wire.Round) {
	p := f.p
	if p.Control == plan.ScaffoldMean {
		f.control[i] += float32(float32(r.Contributors) / float32(p.Steps) * v)
	}
	if p.Control != plan.NoControl {
		v += correction
	}
	if p.Prox > 0 {
		drift := f.x[i] - base
		v += float32(p.Prox * drift)
	}
	if p.WeightDecay > 0 {
		v += float32(p.WeightDecay * f.x[i])
	}
	eta := r.StepSize * f.scale(i)
	switch p.Rule {
	case plan.Momentum:
		f.m[i] = float32(p.Beta*f.m[i]) + float32((1-p.Beta)*v)
		v = f.m[i]
	case plan.TorchMomentum:
		f.m[i] = float32(p.Beta*f.m[i]) + v
		v = f.m[i]
	}
	f.x[i] -= float32(eta * v)
}

// normalized applies a round of the rule of that name.
func (f *naive) normalized(n uint64, r *wire.Round) {
	p, v := f.p, f.products
	squares, count := 0.0, 0.0
	for i, t := range r.Terms {
		if t.Back > 0 {
			continue
		}
		w, s := 1.0, 0.0
		if len(r.Weights) > 0 {
			w = float64(r.Weights[i])
		}
		for _, v := range p.TermPrecision().Values(t.Scalars, 1, int(r.Perturbations)) {
			c := float64(v)
			s += float64(c * c)
			count += w
		}
		squares += float64(w * s)
	}
	u := squares / count
	if p.Distribution == plan.Sphere {
		u *= float64(p.Dim)
	}
	v[1] *= float64(p.ServerBeta1)
	if squares > 0 {
		v[0] = float64(float64(p.ServerBeta2)*v[0]) + float64((1-float64(p.ServerBeta2))*u)
		v[2] *= float64(p.ServerBeta2)
	}
	terms := f.terms(n, 0, r)
	for i := range f.x {
		g := f.sum(terms, i)
		f.moment[i] = float32(p.ServerBeta1*f.moment[i]) + float32((1-p.ServerBeta1)*g)
		a := float64(r.StepSize) * float64(f.scale(i))
		if keep := float32(1 - float64(float64(p.ServerDecay)*a)); keep != 1 {
			f.x[i] = float32(keep * f.x[i])
		}
		inverse := 1 / ((1 - v[1]) * math.Sqrt(v[0]/(1-v[2])))
		if rate := float32(a * inverse); rate > 0 && !math.IsInf(float64(rate), 0) && v[0] > 0 {
			f.x[i] -= float32(rate * f.moment[i])
		}
	}
	f.rounds++
}

// serve applies the server rule to element i.
func (f *naive) serve(i int, base float32, r *wire.Round) {
	p, d := f.p, f.x[i]-base
	alpha := p.ServerStep
	if r.Factor != 0 {
		alpha = float32(alpha * r.Factor)
	}
	switch p.ServerRule {
	case plan.ServerMean:
	case plan.ServerSGD:
		f.x[i] = base + float32(alpha*d)
	case plan.ServerMomentum:
		f.moment[i] = float32(p.ServerBeta1*f.moment[i]) + d
		f.x[i] = base + float32(alpha*f.moment[i])
	case plan.ServerSign:
		switch f.x[i] = base; {
		case d > 0:
			f.x[i] = base + alpha
		case d < 0:
			f.x[i] = base - alpha
		}
	default:
		f.moment[i] = float32(p.ServerBeta1*f.moment[i]) + float32((1-p.ServerBeta1)*d)
		square := float32(d * d)
		switch {
		case p.ServerRule == plan.ServerAdaGrad:
			f.second[i] += square
		case p.ServerRule != plan.ServerYogi:
			f.second[i] = float32(p.ServerBeta2*f.second[i]) + float32((1-p.ServerBeta2)*square)
		case f.second[i] > square:
			f.second[i] -= float32((1 - p.ServerBeta2) * square)
		case f.second[i] < square:
			f.second[i] += float32((1 - p.ServerBeta2) * square)
		}
		v := f.second[i]
		if p.ServerRule == plan.ServerAMSGrad {
			f.peak[i] = max(f.peak[i], v)
			v = f.peak[i]
		}
		f.x[i] = base + float32(alpha*(f.moment[i]/float32(math.Sqrt(float64(v+p.ServerEpsilon)))))
	}
}

// finish counts a round, and recomputes the basis or x when due.
func (f *naive) finish(base []float32) {
	tau := uint64(len(f.trail))
	if tau > 0 {
		for i := range f.x {
			f.trail[f.rounds%tau][i] = f.x[i] - base[i]
		}
	}
	f.rounds++
	if tau > 0 && f.rounds%tau == 0 {
		f.factor()
	}
	if f.p.Pool > 0 && f.rounds%uint64(f.p.Rebase) == 0 {
		f.expand()
	}
}

// factor computes the basis: Gram matrix, Cholesky, substitution.
func (f *naive) factor() {
	columns := slices.Clone(f.trail)
	slices.Reverse(columns) // newest first
	n, largest := len(columns), 0.0
	var g, r [plan.MaxSubspace][plan.MaxSubspace]float64
	for j := range n {
		for i := range j + 1 {
			g[i][j] = inner(columns[i], columns[j])
		}
		largest = max(largest, g[j][j])
	}
	for j := range n {
		pivot := g[j][j]
		for i := range j {
			if r[i][i] == 0 {
				continue
			}
			s := g[i][j]
			for k := range i {
				s -= float64(r[k][i] * r[k][j])
			}
			r[i][j] = s / r[i][i]
			pivot -= float64(r[i][j] * r[i][j])
		}
		if pivot > 1e-10*largest {
			r[j][j] = math.Sqrt(pivot)
		} else {
			for i := range j {
				r[i][j] = 0
			}
		}
	}
	for e := range f.x {
		var q [plan.MaxSubspace]float64
		for j := range n {
			if r[j][j] != 0 {
				t := float64(columns[j][e])
				for i := range j {
					t -= float64(r[i][j] * q[i])
				}
				q[j] = t / r[j][j]
			}
			f.basis[j][e] = float32(q[j])
		}
	}
}

// expand computes x and m from the coefficients.
func (f *naive) expand() {
	n := len(f.a) - 1
	combine := func(c []float64) []naiveTerm {
		terms := make([]naiveTerm, n)
		for s := range terms {
			t := &terms[s]
			t.z, t.along = make([]float32, f.p.Dim), float32(c[s])
			prng.Fill(t.z, f.poolDirection(uint32(s)), 0)
			if f.p.Distribution == plan.Sphere {
				t.along = float32(float64(t.along) / math.Sqrt(squares(t.z)))
			}
		}
		return terms
	}
	terms := combine(f.a)
	for i := range f.x {
		f.x[i] = float32(float32(f.a[n])*f.x0[i]) + float32(f.scale(i)*f.sum(terms, i))
	}
	if f.b == nil {
		return
	}
	terms = combine(f.b)
	for i := range f.m {
		f.m[i] = float32(float32(f.b[n])*f.x0[i]) + f.sum(terms, i)
	}
}
