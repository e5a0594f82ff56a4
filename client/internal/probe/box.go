package probe

import (
	"math"

	"github.com/zofl/zofl/wire"
)

// A side is a run of adjacent parameters with the same box, or none, and the same factor on the
// step. Its lengths are in the units of the local iterate: parameters, or coordinates of the
// box, which are 0 at its low end and 1 at its high end.
type side struct {
	end       int     // of the run, from parameter 0
	step      float64 // StepScale
	unit      float64 // length of the box; 1 without one
	zero      float64 // coordinate at which the parameter is 0
	low, high float64 // bounds of the iterate
}

// parameterSides appends the plan's sides for an iterate in parameters.
func parameterSides(dst []side, p *wire.Plan) []side {
	end := 0
	for i, s := range p.Layout() {
		end += int(s.Len)
		next := side{
			end: end, step: float64(s.StepScale), unit: 1,
			low: math.Inf(-1), high: math.Inf(1),
		}
		if b, ok := p.BoxOf(i); ok {
			next.low, next.high = float64(b.Low), float64(b.High)
			next.unit = next.high - next.low
		}
		dst = append(dst, next)
	}
	return dst
}

// A frame converts parameters to coordinates of their boxes and back. Without boxes these are
// the same.
type frame struct {
	boxes  []side // in parameters
	inside []side // in coordinates
}

func frameOf(p *wire.Plan) frame {
	f := frame{boxes: parameterSides(nil, p)}
	for _, b := range f.boxes {
		in := b
		if !math.IsInf(b.low, 0) {
			in.unit, in.zero, in.low, in.high = 1, -b.low/b.unit, 0, 1
		}
		f.inside = append(f.inside, in)
	}
	return f
}

// coordinates sets u to the coordinates of x.
//
//	u[i] = (x[i] - low) / (high - low)
func (f *frame) coordinates(u []float64, x []float32) {
	at := 0
	for i, b := range f.boxes {
		zero := f.inside[i].zero
		for ; at < b.end; at++ {
			u[at] = float64(x[at])/b.unit + zero
		}
	}
}

// parameters sets x to the parameters at coordinates u, rounded and clipped to the box.
func (f *frame) parameters(x []float32, u []float64) {
	at := 0
	for i, b := range f.boxes {
		zero := f.inside[i].zero
		for ; at < b.end; at++ {
			x[at] = float32(min(max((u[at]-zero)*b.unit, b.low), b.high))
		}
	}
}
