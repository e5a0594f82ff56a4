package replica

import (
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// older returns the terms of a round's correction.
func (f *naive) older(n uint64, r *wire.Round) (terms []naiveTerm) {
	if f.p.Control == plan.SVRG {
		for i, c := range f.pending {
			terms = append(terms, f.term(c/float32(len(f.pending)), f.pendingN, 0, i, 0))
		}
	}
	for _, t := range r.Terms {
		if t.Back == 0 || f.p.Control == plan.NoControl {
			continue
		}
		count := f.p.TermPrecision().Len(t.Scalars)
		for i, s := range f.p.TermPrecision().Values(t.Scalars, 1, count) {
			if f.p.Control == plan.ScaffoldPoint {
				terms = append(terms, f.term((f.pending[i]-s)/float32(count), n-t.Back, 0, i, 0))
				continue
			}
			p := count / int(f.p.Steps)
			terms = append(terms, f.term(s/float32(count), n-t.Back, i/p, i%p, 0))
		}
	}
	f.pendingN, f.pending = 0, nil
	return terms
}

// terms returns the terms of local step k.
func (f *naive) terms(n uint64, k int, r *wire.Round) (terms []naiveTerm) {
	p := int(r.Perturbations)
	if f.p.Transport == plan.Mean {
		for q, g := range f.block(r, r.Terms[0], k) {
			terms = append(terms, f.term(g/float32(p), n, k, q, 0))
		}
		return append(terms, f.late(n, k, r)...)
	}
	total := float64(len(r.Terms))
	if len(r.Weights) > 0 {
		total = 0
		for _, w := range r.Weights {
			total += float64(w)
		}
	}
	for i, t := range r.Terms {
		w := 1.0
		if len(r.Weights) > 0 {
			w = float64(r.Weights[i])
		}
		g := f.block(r, t, k)
		for q, v := range g {
			terms = append(terms,
				f.term(float32(float64(v)*w/(total*float64(len(g)))), n-t.Back, k, q, t.Source))
		}
	}
	return terms
}

// late returns the terms of late means in local step k.
func (f *naive) late(n uint64, k int, r *wire.Round) (terms []naiveTerm) {
	if f.p.Late == 0 {
		return nil
	}
	for _, t := range r.Terms[1:] {
		g := f.block(r, t, k)
		for q, v := range g {
			terms = append(terms, f.term(v/float32(len(g)), n-t.Back, k, q, 0))
		}
	}
	return terms
}

// block returns a term's scalars for local step k. Along an older record's directions, the number
// of scalars determines P.
func (f *naive) block(r *wire.Round, t wire.Term, k int) []float32 {
	steps, p := int(f.p.Steps), int(r.Perturbations)
	if t.Back > 0 {
		p = f.p.TermPrecision().Len(t.Scalars) / steps
	}
	return f.p.TermPrecision().Values(t.Scalars, steps, p)[k*p : (k+1)*p]
}

// coefficients makes a round's steps on the coefficients of a pool.
func (f *naive) coefficients(n uint64, r *wire.Round) {
	start := slices.Clone(f.a)
	for k := range int(f.p.Steps) {
		if f.p.Pool == 0 {
			return
		}
		v := make([]float64, len(f.a))
		for _, t := range r.Terms {
			block := f.block(r, t, k)
			for q, g := range block {
				g /= float32(len(block))
				if f.p.Distribution == plan.Sphere {
					g *= float32(f.p.Dim)
				}
				v[f.index(n-t.Back, k, q)] += float64(g)
			}
		}
		for s := range v {
			f.coefficient(s, v[s], start[s], r.StepSize)
		}
	}
}

func (f *naive) coefficient(s int, v, start float64, eta float32) {
	if f.p.Prox > 0 {
		v += float64(float64(f.p.Prox) * float64(f.a[s]-start))
	}
	if f.p.WeightDecay > 0 {
		v += float64(float64(f.p.WeightDecay) * f.a[s])
	}
	switch f.p.Rule {
	case plan.Momentum:
		f.b[s] = float64(float64(f.p.Beta)*f.b[s]) + float64(float64(1-f.p.Beta)*v)
		v = f.b[s]
	case plan.TorchMomentum:
		f.b[s] = float64(float64(f.p.Beta)*f.b[s]) + v
		v = f.b[s]
	}
	f.a[s] -= float64(float64(eta) * v)
}
