package replica

import (
	"fmt"

	"github.com/zofl/zofl/wire"
)

// Clip moves elements off, off+1, ... of a parameter vector into their boxes: an element
// outside its box gets the nearer bound, NaNs stay. Without boxes Clip does nothing.
//
//	for i := range dst:
//		dst[i] = min(max(dst[i], low), high)
func (r *Replica) Clip(dst []float32, off int) {
	if len(r.plan.Boxes) > 0 {
		clipSpans(dst, off, r.segments)
	}
}

// clipSpans clips dst, which starts at element off of the model, to the boxes of spans.
func clipSpans(dst []float32, off int, spans []span) {
	for i := spanOf(spans, off); len(dst) > 0; i++ {
		s := &spans[i]
		part := dst[:min(len(dst), s.end-off)]
		for j, v := range part {
			part[j] = min(max(v, s.low), s.high)
		}
		dst, off = dst[len(part):], off+len(part)
	}
}

// box clips seeded parameters to their boxes. Given parameters outside a box are refused
// instead, because the app that gave them can correct them.
func box(p *wire.Plan, x []float32) error {
	if len(p.Boxes) == 0 {
		return nil
	}
	spans := layout(p)
	if p.Initial == wire.Given {
		return checkBoxed(x, spans)
	}
	clipSpans(x, 0, spans)
	return nil
}

func checkBoxed(x []float32, spans []span) error {
	at := 0
	for _, s := range spans {
		for ; at < s.end; at++ {
			if !(x[at] >= s.low && x[at] <= s.high) {
				return fmt.Errorf("%w: parameter %d is %v, its box is [%v, %v]: give a start "+
					"inside the plan's boxes",
					ErrInitial, at, x[at], s.low, s.high)
			}
		}
	}
	return nil
}
