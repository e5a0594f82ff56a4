package scenario

import (
	"math/rand/v2"

	"github.com/zofl/zofl/plan"
)

// drawDense makes devices send vectors, in pieces so short that even these small models need
// several pieces.
func (s *Scenario) drawDense(p *plan.Plan, rng *rand.Rand) {
	p.Transport, p.DenseKeep = plan.DenseVectors, Pick[uint32](rng, 2, 2, 3, 16)
	p.Precision, p.Aggregator, p.MaxScalar = plan.Single, plan.WeightedMean, 1e12
	p.Sharing = plan.SharedDirections
	if p.Roster == plan.ListedRoster {
		p.Sharing = Pick(rng, plan.SharedDirections, plan.PerClient)
	}
	p.Control = Pick(rng, plan.NoControl, plan.NoControl, plan.ScaffoldPoint, plan.ScaffoldMean)
	if rng.IntN(4) == 0 { // epsilon is near the slopes, so that the moves of the devices differ
		p.Rule, p.Beta, p.Beta2, p.Epsilon = plan.LocalAdam, 0.5, 0.9, 100
	}
	if rng.IntN(4) == 0 {
		p.Boxes = []plan.Box{{Low: -1, High: 1}}
	}
	if rng.IntN(4) == 0 {
		drawSurrogate(p, rng)
	}
	s.Piece, s.Uploads = Pick(rng, 0, 4, 8, 16, 20), Pick(rng, 0, 0, 1, 600)
}

// drawSurrogate makes devices step along a surrogate of their losses.
func drawSurrogate(p *plan.Plan, rng *rand.Rand) {
	p.Estimator, p.Control, p.Sharing, p.Distribution = plan.Surrogate, plan.NoControl,
		plan.SharedDirections, plan.Normal
	p.Perturbations, p.Features, p.LengthScale, p.Noise = 1, 4, 1, 1e-2
	p.Window, p.Active, p.Around, p.Candidates, p.Radius = uint32(3+rng.IntN(4)),
		uint32(rng.IntN(3)), uint32(1+rng.IntN(2)), 3, 0.1
}
