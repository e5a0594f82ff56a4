package valid

import (
	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
)

// privacyRules exclude fields for which devices would send numbers without noise, or numbers
// outside of the sum, that others could see.
var privacyRules = []rule{
	{when: "dp_noise", needs: "dp_clip>0", at: "dp_clip"},
	{when: "dp_by", needs: "dp_clip>0", at: "dp_clip"},
	{when: "dp_delta", needs: "dp_clip>0", at: "dp_clip"},
	{when: "dp_clip", needs: "dp_clip>=1e-9", what: "it is below 1e-9"},
	{when: "dp_clip", needs: "dp_noise>=0.01", at: "dp_noise"},
	{when: "dp_clip", needs: "dp_delta>0 dp_delta<1", at: "dp_delta"},
	{when: "dp_clip", needs: "transport!=dense"},
	{when: "dp_clip", needs: "transport!=relay"},
	{when: "dp_clip", needs: "weights=equal"},
	{when: "dp_clip", needs: "aggregator=weighted-mean"},
	{when: "dp_clip", needs: "control=none"},
	{when: "dp_clip", needs: "late=0"},
	{when: "dp_clip secure=none", needs: "bound=0"},
	{when: "dp_clip", needs: "claim_bound=0 trust=0"},
	{when: "dp_clip", needs: "mu_auto!=on step_auto!=on"},
	{when: "dp_clip", needs: "diverge=0"},
	{when: "dp_clip", needs: "stop_metric=0", what: "stop_metric looks at metrics without noise"},
	{when: "dp_clip", needs: "patience=0", what: "patience looks at values without noise"},
	{when: "dp_clip dp_by=device", needs: "eval_every=0"},
	{when: "dp_of dp_clip", needs: "secure=sum"},
	{when: "dp_clip dp_by=device", but: noiseFits, at: "max_scalar",
		what: "it is below dp_clip and 8 times its noise"},

	{when: "secure_range", needs: "secure=sum"},
	// Noise that is cut after it was added is less noise.
	{when: "secure_range dp_of", but: sumFits, at: "secure_range",
		what: "it is below dp_clip and 8 times a device's noise"},
	{when: "secure", needs: "transport!=dense"},
	{when: "secure", needs: "transport!=relay"},
	{when: "secure", needs: "roster=dense"},
	{when: "secure", needs: "weights=equal"},
	{when: "secure", needs: "aggregator=weighted-mean"},
	{when: "secure", needs: "control=none"},
	{when: "secure", needs: "late=0"},
	{when: "secure", needs: "claim_bound=0 trust=0"},
	{when: "secure", needs: "mu_auto!=on step_auto!=on"},
	{when: "secure", needs: "eval_every=0"},
	{when: "secure dp_clip", needs: "dp_by=device"},
	// A contributor knows its own scalars, so a sum of two contributions reveals the other
	// contribution.
	{when: "secure", needs: "quorum>=3", at: "quorum"},
	// The more devices a sum has, the fewer levels the scalars of each device have.
	{when: "secure", but: asksAtMost(4096), at: "target",
		what: "secure=sum asks at most 4096 devices"},
	{when: "secure_lists", needs: "secure=sum"},
	{when: "secure_lists", needs: "key_check", what: "devices agree by a secret"},
	// In a round of more than 100 devices, not all devices are neighbors.
	{when: "secure_lists", but: asksAtMost(100), what: "at most 100 devices agree"},
}

func asksAtMost(devices uint32) func(p *plan.Plan) bool {
	return func(p *plan.Plan) bool { return p.Sampled(plan.MaxMembers) <= devices }
}

// noiseFits reports whether max_scalar leaves room for 8 standard deviations of noise. The noise of
// a scalar exceeds 8 standard deviations once in 10^15 draws.
func noiseFits(p *plan.Plan) bool { return fits(p, p.MaxScalar) }

// sumFits is noiseFits for the range to which devices cut what they add to a sum.
func sumFits(p *plan.Plan) bool { return fits(p, p.SecureRange) }

func fits(p *plan.Plan, limit float32) bool {
	own := dpnoise.Multiplier(p.DPNoise, p.DPOf, p.Quorum)
	return float64(limit) >= float64(p.DPClip)*(1+8*own)
}
