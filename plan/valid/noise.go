package valid

import (
	"slices"

	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
)

// Limits of plans with differential privacy.
const (
	minClip  float32 = 1e-9
	minNoise float32 = 0.01
	// tails is how many standard deviations of noise max_scalar must leave room for. A scalar's
	// noise exceeds them once in 10^15.
	tails = 8
)

// noiseRefusals are of plans with differential privacy. They leave no number that a device
// sends outside of it, or none that others see.
var noiseRefusals = slices.Concat([]refusal{
	{"dp_clip", onAll, func(p *plan.Plan) bool {
		return p.DPClip == 0 && (p.DPNoise > 0 || p.DPBy > 0 || p.DPDelta > 0)
	},
		"dp_noise, dp_by and dp_delta need it"},
}, of(private, []refusal{
	{"dp_clip", onAll, func(p *plan.Plan) bool { return p.DPClip < minClip },
		"it is below 1e-9"},
	{"dp_noise", onAll, func(p *plan.Plan) bool { return p.DPNoise < minNoise },
		"beside dp_clip it must be 0.01 or more"},
	{"dp_delta", onAll, func(p *plan.Plan) bool { return !(p.DPDelta > 0 && p.DPDelta < 1) },
		"beside dp_clip it must be above 0 and below 1"},
	{"dp_clip", onDense, nil, "transport=dense sends vectors"},
	{"dp_clip", onRelay, nil, "transport=relay shows single contributions"},
	{"dp_clip", onMean, func(p *plan.Plan) bool { return p.Weights != plan.Equal },
		"it needs weights=equal"},
	{"dp_clip", onMean, func(p *plan.Plan) bool { return p.Aggregator != plan.WeightedMean },
		"it needs aggregator=weighted-mean"},
	{"dp_clip", onMean, func(p *plan.Plan) bool { return p.Control != plan.NoControl },
		"it needs control=none"},
	{"dp_clip", onMean, func(p *plan.Plan) bool { return p.Late > 0 },
		"it takes no late work"},
	{"dp_clip", onMean, func(p *plan.Plan) bool {
		return p.Bound > 0 || p.ClaimBound > 0 || p.Trust > 0
	},
		"it excludes bound, claim_bound and trust"},
	{"dp_clip", onMean, func(p *plan.Plan) bool { return p.MuAuto > 0 && p.StepAuto > 0 },
		"mu=auto and step=auto send losses without noise"},
	{"dp_clip", onMean, func(p *plan.Plan) bool { return p.MuAuto > 0 },
		"mu=auto sends losses without noise"},
	{"dp_clip", onMean, func(p *plan.Plan) bool { return p.StepAuto > 0 },
		"step=auto sends losses without noise"},
	{"dp_clip", onMean, func(p *plan.Plan) bool { return p.Diverge > 0 },
		"diverge looks at losses without noise"},
	{"dp_clip", onMean, func(p *plan.Plan) bool { return p.StopMetric != "" },
		"stop_metric looks at metrics without noise"},
	{"dp_clip", onMean, func(p *plan.Plan) bool {
		device, _ := p.Noisy()
		return device && p.EvalEvery > 0
	},
		"evaluations send metrics without noise"},
	{"dp_of", onMean, func(p *plan.Plan) bool { return p.DPOf > 0 && p.Secure == 0 },
		"dp_of=sum needs secure=sum"},
	{"max_scalar", onMean, func(p *plan.Plan) bool {
		device, _ := p.Noisy()
		own := dpnoise.Multiplier(p.DPNoise, p.DPOf, p.Quorum)
		return device && float64(p.MaxScalar) < float64(p.DPClip)*(1+tails*own)
	},
		"it is below dp_clip and 8 times its noise"},
}))

func private(p *plan.Plan) bool { return p.DPClip > 0 }
