package localrule

import (
	"math"
	"testing"

	"github.com/zofl/zofl/plan"
)

// planOf returns a plan of two segments of 2 parameters.
func planOf(boxes ...plan.Box) *plan.Plan {
	segments := []plan.Segment{{Len: 2, StepScale: 2}, {Len: 2, StepScale: 1}}
	return &plan.Plan{Dim: 4, ModelFields: plan.ModelFields{Segments: segments, Boxes: boxes}}
}

// Coordinates run from 0 to 1 over a box. Without a box they are the parameters. Parameters inverts
// Coordinates.
func TestFrame(t *testing.T) {
	for _, c := range []struct {
		boxes   []plan.Box
		want    [4]float64
		beyond  [4]float64
		clipped [4]float32
	}{
		{nil, [4]float64{-1, 2, 7, 1}, [4]float64{-9, 2, 9, 0}, [4]float32{-9, 2, 9, 0}},
		{[]plan.Box{{Low: -1, High: 7}}, [4]float64{0, 0.375, 1, 0.25}, [4]float64{-9, 2, 0.5, 0},
			[4]float32{-1, 7, 3, -1}},
		{[]plan.Box{{Low: -1, High: 3}, {Low: 0, High: 10}}, [4]float64{0, 0.75, 0.7, 0.1},
			[4]float64{-9, 2, 0.5, -1}, [4]float32{-1, 3, 5, 0}},
	} {
		f := FrameOf(planOf(c.boxes...))
		x, u, back := [4]float32{-1, 2, 7, 1}, [4]float64{}, [4]float32{}
		f.Coordinates(u[:], x[:])
		for i, want := range c.want {
			if math.Abs(u[i]-want) > 1e-15 {
				t.Errorf("%v: coordinates %v, want %v", c.boxes, u, c.want)
			}
		}
		if f.Parameters(back[:], u[:]); back != x {
			t.Errorf("%v: back at %v, want %v", c.boxes, back, x)
		}
		if f.Parameters(back[:], c.beyond[:]); back != c.clipped {
			t.Errorf("%v: %v is %v, want %v", c.boxes, c.beyond, back, c.clipped)
		}
	}
}

// We computed the second move of a round by hand for each rule. The next round makes the same move.
func TestRules(t *testing.T) {
	for rule, want := range map[plan.Rule]float64{
		plan.SGD:           3,
		plan.Momentum:      0.5*0.5*1 + 0.5*3,
		plan.TorchMomentum: 0.5*1 + 3,
		plan.LocalSign:     1,
		// m = (0.25 + 1.5)/0.75, s = (0.75*0.25 + 0.25*9)/(1 - 0.75^2)
		plan.LocalAdam: 1.75 / 0.75 / (math.Sqrt((0.75*0.25+0.25*9)/(1-0.75*0.75)) + 1),
	} {
		p := planOf()
		p.Rule, p.Beta, p.Beta2, p.Epsilon = rule, 0.5, 0.75, 1
		sides := Sides(nil, p)
		var r Rule[float64]
		for round := range 2 {
			r.Begin(rule, 4)
			x := make([]float64, 4)
			r.Move(x, []float64{1, 1, 1, 1}, p, 0.125, sides)
			clear(x)
			r.Move(x, []float64{3, 3, 3, 3}, p, 0.125, sides)
			for i, step := range []float64{2, 2, 1, 1} { // the segments' step_scale
				if got := -x[i] / 0.125 / step; math.Abs(got-want) > 1e-12 {
					t.Errorf("%v, round %d, parameter %d: moved by %v, want %v", rule, round, i,
						got, want)
				}
			}
		}
	}
}

// A move stops at the end of a box. The unit of a move is the length of the box.
func TestMoveInBoxes(t *testing.T) {
	p := planOf(plan.Box{Low: -1, High: 3}, plan.Box{Low: 0, High: 10})
	x, v := [4]float32{0, 0, 5, 5}, [4]float32{1, -1, 0.25, -100}
	var r Rule[float32]
	r.Begin(p.Rule, 4)
	r.Move(x[:], v[:], p, 0.125, Sides(nil, p))
	if want := [4]float32{-1, 1, 4.6875, 10}; x != want {
		t.Errorf("got %v, want %v", x, want)
	}
}

// The pull is towards the base and towards 0. The unit of the pull is the length of the box.
func TestPull(t *testing.T) {
	p := planOf(plan.Box{Low: -1, High: 3}, plan.Box{Low: 0, High: 10})
	v, x, base := [4]float64{1, 1, 1, 1}, [4]float64{2, 0, 5, 10}, [4]float64{1, 1, 5, 5}
	Pull(v[:], x[:], base[:], p, Sides(nil, p))
	if want := [4]float64{1, 1, 1, 1}; v != want {
		t.Errorf("without prox and decay: %v, want %v", v, want)
	}
	p.Prox, p.WeightDecay = 0.5, 0.25
	Pull(v[:], x[:], base[:], p, Sides(nil, p))
	// (0.5 (x - base) + 0.25 x) / length
	if want := [4]float64{1 + 1./4, 1 - 0.5/4, 1 + 1.25/10, 1 + 5./10}; v != want {
		t.Errorf("got %v, want %v", v, want)
	}
	// In coordinates, the second box has its 0 at 0, and the first box at 0.25.
	inside := FrameOf(p).Inside
	v, x, base = [4]float64{}, [4]float64{0.25, 0.75, 0, 1}, [4]float64{0.25, 0.25, 0, 0.5}
	Pull(v[:], x[:], base[:], p, inside)
	if want := [4]float64{0, 0.25 + 0.125, 0, 0.25 + 0.25}; v != want {
		t.Errorf("in coordinates: got %v, want %v", v, want)
	}
}
