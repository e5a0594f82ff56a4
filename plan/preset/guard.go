package preset

import (
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/secagg"
)

// Guard bounds the influence of one device on a run: contributions count up to 8 times the usual
// length, and claimed samples up to 8 median claims, see [plan.Plan].Bound and ClaimBound. Honest
// devices are hardly ever cut. No paper has these bounds, so [Unbound] leaves them out; the plans
// of [New], zofl plan and zofl demo have them. Noise has its own bound, and secure aggregation
// hides lengths and claims: a plan with dp_clip or secure=sum gets no bounds. Vectors have no usual
// length, so a plan with transport=dense gets no Bound.
//
// With secure=sum a lying coordinator can learn the sum of very few devices, see
// [secagg.SmallestSum]. To prevent that, Guard makes devices agree on lists, in private runs of up
// to 100 devices a round. In other runs it raises Quorum to three quarters of the devices that a
// round asks, if these are few enough for it to matter.
//
// Call it after your own fields. Guard leaves alone a bound that a plan already has, and a field
// whose name is in set: an author may want no bound.
func Guard(p *plan.Plan, set ...string) {
	if p.Secure > 0 {
		guardSum(p, set)
	}
	if p.DPClip > 0 || p.Secure > 0 {
		return
	}
	if p.Transport != plan.DenseVectors && p.Bound == 0 &&
		!slices.Contains(set, "bound") {
		p.Bound = 8
	}
	if p.ClaimBound == 0 && !slices.Contains(set, "claim_bound") {
		p.ClaimBound = 8
	}
}

// guardSum keeps a lying coordinator from sums of few devices, where all devices are neighbors.
func guardSum(p *plan.Plan, set []string) {
	asked := p.Sampled(plan.MaxMembers)
	if degree, _ := secagg.Graph(int(asked)); degree+1 < int(asked) {
		return
	}
	if p.Private() && !slices.Contains(set, "secure_lists") {
		p.SecureLists = 1
	}
	if p.SecureLists == 0 && !slices.Contains(set, "quorum") {
		p.Quorum = max(p.Quorum, min((3*asked+3)/4, p.Target, p.Members))
	}
}
