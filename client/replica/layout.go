package replica

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/client/replica/internal/layout"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// maxDim keeps 4*d within an int, on 32-bit devices too.
const maxDim = math.MaxInt / 8

// initial returns the parameters of record 1, inside their boxes: a copy of the given parameters,
// or the parameters that the plan's segments seed.
func (c *Config) initial(p *plan.Plan, runKey []byte) ([]float32, error) {
	x := make([]float32, p.Dim)
	if p.Initial == plan.Given {
		if err := c.give(p, x); err != nil {
			return nil, err
		}
		return x, box(p, x)
	}
	layout.Fill(x, prng.RecordKey(runKey, 0), p.Layout())
	return x, box(p, x)
}

// Clip moves elements off, off+1, ... of a parameter vector into their boxes: an element outside
// its box gets the nearer bound; NaNs stay. Without boxes Clip does nothing.
//
//	for i := range dst:
//		dst[i] = min(max(dst[i], low), high)
func (r *Replica) Clip(dst []float32, off int) {
	if len(r.plan.Boxes) > 0 {
		r.segments.Clip(dst, off)
	}
}

// box clips seeded parameters to their boxes. For given parameters outside a box, box returns an
// error instead, because the app that gave the parameters can correct them.
func box(p *plan.Plan, x []float32) error {
	if len(p.Boxes) == 0 {
		return nil
	}
	spans := layout.Of(p)
	if p.Initial != plan.Given {
		spans.Clip(x, 0)
		return nil
	}
	if at, s, found := spans.Outside(x); found {
		return fmt.Errorf("%w: parameter %d is %v, its box is [%v, %v]: give a start "+
			"inside the plan's boxes",
			ErrInitial, at, x[at], s.Low, s.High)
	}
	return nil
}
