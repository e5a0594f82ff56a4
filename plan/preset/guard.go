package preset

import (
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/secagg"
)

// Guard bounds the influence of one device on a run by [plan.UsualBound]: the coordinator leaves
// out a contribution whose L2 norm is above 8 median norms, and limits the others by the number of
// contributors. The coordinator limits claimed samples to 8 median claims. See [plan.Plan].Bound
// and ClaimBound. Honest devices hardly ever reach these bounds. No paper has the bounds, so
// [Unbound] leaves them out. The plans of [New], zofl plan and zofl demo have them. A plan with
// dp_clip gets no bounds, because dp_clip is a bound. Dense vectors have no usual norm, so a plan
// with transport=dense gets no Bound.
//
// With secure=sum the coordinator cannot see norms and claims of contributions. There Bound limits
// the norm of their mean to 3 times that of earlier means, also with dp_clip, because nobody sees
// what a device that lies adds under its mask.
//
// With secure=sum a lying coordinator can learn the sum of very few devices, see
// [secagg.SmallestSum]. To prevent such sums, Guard makes devices agree on lists, in private runs
// of up to 100 devices a round. In other runs of up to 100 devices a round, Guard raises Quorum to
// three quarters of the devices that a round asks.
//
// Call Guard when you have set your own fields. Guard does not change a bound that a plan already
// has, or a field whose name is in set, because an author may want no bound.
func Guard(p *plan.Plan, set ...string) {
	if p.Secure > 0 {
		guardSum(p, set)
	}
	if p.DPClip > 0 || p.Secure > 0 {
		return
	}
	if p.Transport != plan.DenseVectors && p.Bound == 0 &&
		!slices.Contains(set, "bound") {
		p.Bound = plan.UsualBound
	}
	if p.ClaimBound == 0 && !slices.Contains(set, "claim_bound") {
		p.ClaimBound = 8
	}
}

// sumBound is Bound with secure=sum. A lower bound lets one liar do less. In runs that did not
// diverge, honest means of ten scalars reached 3 in at most 1 of 100 rounds, and no run was the
// worse for it: see docs/privacy.md. Means that grow threefold within 8 rounds are cut while they
// grow.
const sumBound = 3

// guardSum bounds sums, and changes the plan so that a lying coordinator cannot get sums of few
// devices. The latter is only for plans in which all devices of a round are neighbors.
func guardSum(p *plan.Plan, set []string) {
	if p.Bound == 0 && !slices.Contains(set, "bound") {
		p.Bound = sumBound
	}
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
