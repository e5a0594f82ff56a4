package reference

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// A frame is the coordinates that a plan's boxes define: FZooS maps each box to [0, 1].
// Without boxes, coordinates are parameters.
type frame struct {
	low, side []float64 // of each parameter's box
	domain    *Domain   // nil: no boxes
	origin    []float64 // coordinates at which parameters are 0
	step      []float64 // factors on the step size
}

func frameOf(p *plan.Plan) *frame {
	f := &frame{}
	for i, s := range p.Layout() {
		low, side := 0.0, 1.0
		if b, ok := p.BoxOf(i); ok {
			low, side = float64(b.Low), float64(b.High)-float64(b.Low)
			f.domain = Unit(int(p.Dim))
		}
		n := int(s.Len)
		f.low = append(f.low, slices.Repeat([]float64{low}, n)...)
		f.side = append(f.side, slices.Repeat([]float64{side}, n)...)
		f.origin = append(f.origin, slices.Repeat([]float64{-low / side}, n)...)
		f.step = append(f.step, slices.Repeat([]float64{float64(s.StepScale)}, n)...)
	}
	return f
}

// coordinates returns the coordinates of parameters.
func (f *frame) coordinates(x []float32) []float64 {
	u := widen(x)
	for i := range u {
		u[i] = (u[i] - f.low[i]) / f.side[i]
	}
	return u
}

// parameters returns the parameters at coordinates.
func (f *frame) parameters(u []float64) []float64 {
	x := clone(f.low)
	add(x, 1, scaled(u, f.side))
	return x
}

// in puts a fleet into the domain.
func (f *frame) in(fleet *Fleet) {
	outside := fleet.Loss
	fleet.Loss = func(client int, at At,
		u []float64) float64 {
		return outside(client, at, f.parameters(u))
	}
	fleet.Domain, fleet.Origin = f.domain, f.origin
}

// localOf returns the optimizer of the clients of a dense plan.
func localOf(p *plan.Plan) Optimizer {
	kind := Kind(p.Rule - plan.SGD)
	if p.Rule == plan.LocalSign {
		kind = SignDescent
	}
	return Optimizer{
		Kind: kind, Beta: float64(p.Beta), Beta2: float64(p.Beta2),
		Epsilon: float64(p.Epsilon),
	}
}
