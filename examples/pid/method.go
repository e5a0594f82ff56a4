package main

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/preset"
)

// A Method is a preset of the library and the example's changes to it.
type Method struct {
	Name   string
	preset string
	change func(*plan.Plan)
}

// methods are the methods that the program compares, at the same number of experiments per
// device. Lengths are in units of the boxes: 0.1 is a tenth of a box.
var methods = []Method{
	// A round has 9 experiments. Within boxes sigma begins at 0.1.
	{"CMA", "cma", func(*plan.Plan) {}},
	{"FZooS", "fzoos", func(p *plan.Plan) {
		// A round has 3 steps of 1 + 2 experiments, then 1 + 3 experiments: 13 in total. The preset's
		// 10 steps of 6 experiments suit losses that take less than ten minutes.
		p.Steps, p.Active, p.Around, p.Radius = 3, 2, 3, 0.1
		p.StepSize = 0.05
		p.LengthScale, p.Noise = 0.7, 1e-3 // readings are noisy, so losses are too
		p.Features, p.Window = 1000, 400
	}},
	{"FedZO", "fedzo-dense", func(p *plan.Plan) {
		// A round has 4 steps of 1 + 2 experiments: 12 in total. With closer probes, the noise would be
		// larger than the differences.
		p.Steps, p.Perturbations, p.Mu, p.Batch = 4, 2, 0.05, 0
		p.Rule, p.StepSize, p.Beta, p.Beta2, p.Epsilon = plan.LocalAdam, 0.03, 0.9, 0.999, 1e-8
	}},
}

// Plan returns the plan of a run of n devices that ends with the round in which each device has
// made this many experiments.
func (m Method) Plan(n int, experiments uint64, seed uint64) (*plan.Plan, error) {
	start := Vector(SIMC(Nominal))
	p, err := preset.Unbound(m.preset, m.preset, uint64(len(start)))
	if err != nil {
		return nil, err
	}
	m.change(p)
	p.Segments, p.Boxes = segments(), Boxes()
	p.Initial, p.InitialDigest = plan.Given, replica.InitialDigest(start)
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zofl pid"), seed))
	p.RunKey = slices.Clone(key[:])
	p.Members, p.Target, p.Quorum = uint32(n), uint32(n), uint32(n)
	p.Rounds = (experiments + perRound(p) - 1) / perRound(p)
	return p, plancheck.Validate(p)
}

// perRound returns the number of experiments of a device in a round.
func perRound(p *plan.Plan) uint64 {
	return cost.Of(p, cost.Input{}).Queries
}
