package choose

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/zofl/zofl/client/objective"
)

// A bowl is the loss (x-o)'A(x-o)/2 + c of a device.
type bowl struct {
	a      *mat.SymDense
	o      *mat.VecDense
	offset float64
}

func (b *bowl) at(x []float32) float64 {
	r := mat.NewVecDense(len(x), nil)
	for i, v := range x {
		r.SetVec(i, float64(v)-b.o.AtVec(i))
	}
	return mat.Inner(r, b.a, r)/2 + b.offset
}

// A problem is the mean of the devices' bowls, and the least value of that mean.
type problem struct {
	dim   int
	bowls []*bowl
	least float64
	noise float64 // standard deviation of an evaluation
}

// newProblem draws a problem: A has eigenvalues from 1/condition to 1 in equal ratios, in axes that
// lie askew, and o is normal. The bowls of unlike devices have these axes, with eigenvalues times
// e^(0.7 N), an o that differs by 0.5 N, and offsets as large as the gap. noise is a share of the
// gap at 0.
func newProblem(dim, devices int, unlike bool, condition, noise float64, seed uint64) *problem {
	rng := rand.New(rand.NewPCG(seed, 0x63686f6f7365))
	axes := rotation(dim, rng)
	o := mat.NewVecDense(dim, nil)
	for i := range dim {
		o.SetVec(i, rng.NormFloat64())
	}
	p := &problem{dim: dim}
	for range devices {
		spread := 0.0
		if unlike {
			spread = 1
		}
		p.bowls = append(p.bowls, newBowl(axes, o, condition, spread, rng))
	}
	p.solve()
	gap := p.above(make([]float32, dim))
	for _, b := range p.bowls {
		if unlike {
			b.offset = gap * rng.NormFloat64()
		}
	}
	p.solve()
	p.noise = noise * gap
	return p
}

func newBowl(axes *mat.Dense, o *mat.VecDense, condition, spread float64, rng *rand.Rand) *bowl {
	dim := o.Len()
	b := &bowl{a: mat.NewSymDense(dim, nil), o: mat.NewVecDense(dim, nil)}
	scaled := mat.NewDense(dim, dim, nil)
	for j := range dim {
		curve := math.Pow(condition, float64(j)/float64(dim-1)-1)
		curve *= math.Exp(0.7 * spread * rng.NormFloat64())
		for i := range dim {
			scaled.Set(i, j, axes.At(i, j)*math.Sqrt(curve))
		}
		b.o.SetVec(j, o.AtVec(j)+0.5*spread*rng.NormFloat64())
	}
	b.a.SymOuterK(1, scaled)
	return b
}

// rotation draws orthonormal axes.
func rotation(dim int, rng *rand.Rand) *mat.Dense {
	m := mat.NewDense(dim, dim, nil)
	for i := range dim {
		for j := range dim {
			m.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(m)
	var q mat.Dense
	qr.QTo(&q)
	return &q
}

// solve computes the least value of the mean.
func (p *problem) solve() {
	sum, right := mat.NewSymDense(p.dim, nil), mat.NewVecDense(p.dim, nil)
	for _, b := range p.bowls {
		sum.AddSym(sum, b.a)
		var ao mat.VecDense
		ao.MulVec(b.a, b.o)
		right.AddVec(right, &ao)
	}
	var best mat.VecDense
	if err := best.SolveVec(sum, right); err != nil {
		panic(err) // the sum is positive definite
	}
	p.least = 0
	for _, b := range p.bowls {
		var r mat.VecDense
		r.SubVec(&best, b.o)
		p.least += (mat.Inner(&r, b.a, &r)/2 + b.offset) / float64(len(p.bowls))
	}
}

// above returns by how much the mean loss at x exceeds the least one.
func (p *problem) above(x []float32) float64 {
	sum := 0.0
	for _, b := range p.bowls {
		sum += b.at(x)
	}
	return sum/float64(len(p.bowls)) - p.least
}

// devices returns the devices' losses, which have noise of their own.
func (p *problem) devices(seed uint64) (list []objective.Objective) {
	for i, b := range p.bowls {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		loss := func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
			return b.at(x) + p.noise*rng.NormFloat64(), nil
		}
		list = append(list, objective.Func(p.dim, loss))
	}
	return list
}
