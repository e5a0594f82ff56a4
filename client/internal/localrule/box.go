package localrule

import (
	"math"

	"github.com/zofl/zofl/plan"
)

// A Side is a range of adjacent parameters with the same box, or none, and the same factor on the
// step. The unit of its lengths is that of the local iterate. The iterate holds parameters, or
// coordinates of the box: 0 at the box's low end and 1 at its high end.
type Side struct {
	End       int     // end of the range, from parameter 0
	Step      float64 // StepScale
	Unit      float64 // length of the box; 1 without a box
	Zero      float64 // coordinate at which the parameter is 0
	Low, High float64 // bounds of the iterate
}

// Sides appends the plan's sides for an iterate that holds parameters.
func Sides(dst []Side, p *plan.Plan) []Side {
	end := 0
	for i, s := range p.Layout() {
		end += int(s.Len)
		next := Side{
			End: end, Step: float64(s.StepScale), Unit: 1,
			Low: math.Inf(-1), High: math.Inf(1),
		}
		if b, ok := p.BoxOf(i); ok {
			next.Low, next.High = float64(b.Low), float64(b.High)
			next.Unit = next.High - next.Low
		}
		dst = append(dst, next)
	}
	return dst
}

// A Frame converts parameters to coordinates of their boxes and back. Without boxes, coordinates
// and parameters are the same.
type Frame struct {
	boxes  []Side // in parameters
	Inside []Side // in coordinates
}

// FrameOf returns the frame of a plan.
func FrameOf(p *plan.Plan) Frame {
	f := Frame{boxes: Sides(nil, p)}
	for _, b := range f.boxes {
		in := b
		if !math.IsInf(b.Low, 0) {
			in.Unit, in.Zero, in.Low, in.High = 1, -b.Low/b.Unit, 0, 1
		}
		f.Inside = append(f.Inside, in)
	}
	return f
}

// Coordinates sets u to the coordinates of x.
//
//	u[i] = (x[i] - low) / (high - low)
func (f *Frame) Coordinates(u []float64, x []float32) {
	at := 0
	for i, b := range f.boxes {
		zero := f.Inside[i].Zero
		for ; at < b.End; at++ {
			u[at] = float64(x[at])/b.Unit + zero
		}
	}
}

// Parameters sets x to the parameters at coordinates u, rounded and clipped to the box.
func (f *Frame) Parameters(x []float32, u []float64) {
	at := 0
	for i, b := range f.boxes {
		zero := f.Inside[i].Zero
		for ; at < b.End; at++ {
			x[at] = float32(min(max((u[at]-zero)*b.Unit, b.Low), b.High))
		}
	}
}
