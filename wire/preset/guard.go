package preset

import "github.com/zofl/zofl/wire"

// Guard bounds what one device can do to a run: contributions count up to 8 times the length that
// is usual, see [wire.Plan].Bound. Honest devices are hardly ever cut. The bound is not of a paper,
// so [New] leaves it out; the plans of zofl plan and zofl demo have it. Vectors have no usual
// length, noise has a bound of its own, and masks hide lengths: a plan with transport=dense,
// dp_clip or secure=sum stays as it is, as does one that has a bound.
func Guard(p *wire.Plan) {
	if p.Transport != wire.DenseVectors && p.DPClip == 0 && p.Secure == 0 && p.Bound == 0 {
		p.Bound = 8
	}
}
