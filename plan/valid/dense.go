package valid

import (
	"fmt"

	"github.com/zofl/zofl/plan"
)

// denseOnlyRefusals concern choices that only transport=dense allows. They come first, so that
// their message names transport=dense.
var denseOnlyRefusals = []refusal{
	{"rule", onScalars, func(p *plan.Plan) bool { return p.Rule == plan.LocalAdam },
		"rule=adam needs transport=dense"},
	{"rule", onScalars, func(p *plan.Plan) bool { return p.Rule == plan.LocalSign },
		"rule=sign needs transport=dense"},
	{"boxes", onScalars, func(p *plan.Plan) bool { return len(p.Boxes) > 0 },
		"boxes need transport=dense"},
	{"estimator", onScalars, func(p *plan.Plan) bool { return p.Estimator == plan.Surrogate },
		"estimator=surrogate needs transport=dense"},
}

// denseRefusals concern choices that transport=dense excludes, or needs.
var denseRefusals = []refusal{
	{"dense_keep", onDense, func(p *plan.Plan) bool { return p.DenseKeep < 2 },
		"transport=dense needs 2 or more"},
	{"dense_keep", onScalars, func(p *plan.Plan) bool { return p.DenseKeep > 0 },
		"only transport=dense has it"},
	{"dim", onDense, func(p *plan.Plan) bool { return p.Object(0) > plan.MaxDense },
		"transport=dense allows 16777216 numbers"},
	{"transport", onDense, (*plan.Plan).Private,
		"transport=dense cannot be private"},
	{"transport", onDense, func(p *plan.Plan) bool { return p.Pool > 0 },
		"transport=dense excludes a pool"},
	{"transport", onDense, func(p *plan.Plan) bool { return p.Distribution == plan.Subspace },
		"transport=dense excludes distribution=subspace"},
	{"server_rule", onDense, func(p *plan.Plan) bool { return p.ServerRule != plan.ServerMean },
		"transport=dense needs server_rule=mean"},
	{"aggregator", onDense, func(p *plan.Plan) bool { return p.Aggregator != plan.WeightedMean },
		"transport=dense needs aggregator=weighted-mean"},
	{"precision", onDense, func(p *plan.Plan) bool { return p.Precision != plan.Single },
		"transport=dense needs precision=single"},

	{"max_scalar", onAll, func(p *plan.Plan) bool { return p.MaxScalar < farthest(p) },
		"it is below the largest end of a box"},

	{"beta2", onAll, func(p *plan.Plan) bool {
		return (p.Rule == plan.LocalAdam) != (p.Beta2 > 0) || p.Beta2 >= 1
	},
		"rule=adam needs one above 0 and below 1, other rules have none"},
	{"epsilon", onAll,
		func(p *plan.Plan) bool { return (p.Rule == plan.LocalAdam) != (p.Epsilon > 0) },
		"rule=adam needs one above 0, other rules have none"},
}

// maxFeatureElements bounds features*dim, the numbers that random features are made from:
// 1 GiB.
const maxFeatureElements = 1 << 28

// surrogateRefusals are of estimator=surrogate, and of fields that only it has.
var surrogateRefusals = []refusal{
	{"control", onAll, func(p *plan.Plan) bool {
		return p.Estimator == plan.Surrogate && p.Control != plan.NoControl
	},
		"estimator=surrogate has a correction of its own"},
	{"perturbations", onAll, func(p *plan.Plan) bool {
		return p.Estimator == plan.Surrogate && p.MaxPerturbations() != 1
	},
		"estimator=surrogate probes no directions"},
	{"sharing", onAll, func(p *plan.Plan) bool {
		return p.Estimator == plan.Surrogate && p.Sharing != plan.SharedDirections
	},
		"estimator=surrogate probes no directions"},

	{"prior", onAll, func(p *plan.Plan) bool {
		return p.Estimator != plan.Surrogate && p.Prior > 0
	},
		"only estimator=surrogate has it"},
	{"length_fit", onAll, func(p *plan.Plan) bool {
		return p.Estimator != plan.Surrogate && p.LengthFit > 0
	},
		"only estimator=surrogate has it"},
	{"correction", onAll, func(p *plan.Plan) bool {
		return p.Estimator != plan.Surrogate && p.Correction != plan.CorrectionInverse
	},
		"only estimator=surrogate has it"},
	{"correction_at", onAll, func(p *plan.Plan) bool {
		return p.Estimator != plan.Surrogate && p.CorrectionAt != plan.AtIterate
	},
		"only estimator=surrogate has it"},
	{"candidates", onAll, func(p *plan.Plan) bool {
		return p.Estimator != plan.Surrogate && p.Candidates > 0
	},
		"only estimator=surrogate has it"},

	{"features", onAll, func(p *plan.Plan) bool {
		return (p.Estimator == plan.Surrogate) != (p.Features > 0)
	},
		"estimator=surrogate needs some, other estimators have none"},
	{"features", onAll,
		func(p *plan.Plan) bool { return uint64(p.Features)*p.Dim > maxFeatureElements },
		"features*dim is limited to 268435456"},
	{"length_scale", onAll, func(p *plan.Plan) bool {
		return (p.Estimator == plan.Surrogate) != (p.LengthScale > 0)
	},
		"estimator=surrogate needs one above 0, other estimators have none"},
	{"noise", onAll,
		func(p *plan.Plan) bool { return (p.Estimator == plan.Surrogate) != (p.Noise > 0) },
		"estimator=surrogate needs some, other estimators have none"},
	{"window", onAll,
		func(p *plan.Plan) bool { return p.Estimator == plan.Surrogate && p.Window < 2 },
		"estimator=surrogate needs 2 or more"},
	{"window", onAll,
		func(p *plan.Plan) bool { return p.Estimator != plan.Surrogate && p.Window > 0 },
		"only estimator=surrogate has it"},
	{"active", onAll, func(p *plan.Plan) bool { return p.Active > p.Candidates },
		"it is above candidates"},
	{"around", onAll, func(p *plan.Plan) bool { return p.Around > p.Candidates },
		"it is above candidates"},
	{"radius", onAll, func(p *plan.Plan) bool { return (p.Candidates > 0) != (p.Radius > 0) },
		"candidates need one above 0, and without candidates there is none"},
	{"active", onAll, func(p *plan.Plan) bool {
		return p.Estimator == plan.Surrogate && p.Active == 0 && p.Around == 0
	},
		"estimator=surrogate needs active or around above 0"},
	{"heterogeneity", onAll, func(p *plan.Plan) bool {
		return (p.Correction == plan.CorrectionTheory) != (p.Heterogeneity > 0)
	},
		"correction=theory needs G above 0, other corrections have none"},
}

// farthest returns the largest absolute value that boxes allow a parameter; 0 without boxes.
func farthest(p *plan.Plan) float32 {
	most := float32(0)
	for _, b := range p.Boxes {
		most = max(most, -b.Low, b.High)
	}
	return most
}

// Sides of boxes are bounded so that no product of mu or the step size with them is 0
// or infinite.
const (
	minSide float32 = 1e-12
	maxSide float32 = 1e12
)

// checkBoxes wants one box for each segment or one for all, each with high above low.
func checkBoxes(p *plan.Plan) error {
	if n := len(p.Boxes); n > 1 && n != len(p.Segments) {
		return fault("boxes", n, fmt.Sprintf(
			"give one for each of the %d segments, or one for all", len(p.Segments)))
	}
	for _, b := range p.Boxes {
		if side := b.High - b.Low; !(side >= minSide && side <= maxSide) {
			return fault("boxes", b, "high must exceed low by 1e-12..1e12; "+
				"measure the parameter in another unit")
		}
	}
	return nil
}
