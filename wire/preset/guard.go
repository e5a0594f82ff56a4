package preset

import (
	"slices"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// Guard bounds what one device can do to a run: contributions count up to 8 times the length that
// is usual, and claimed samples up to 8 median claims, see [wire.Plan].Bound and ClaimBound. Honest
// devices are hardly ever cut. The bounds are not of a paper, so [New] leaves them out; the plans
// of zofl plan and zofl demo have them. Noise has a bound of its own, and masks hide lengths and
// claims: a plan with dp_clip or secure=sum gets no bounds. Vectors have no usual length, so a plan
// with transport=dense gets no Bound.
//
// With secure=sum Guard raises Quorum to three quarters of the devices that a round asks, if these
// are few enough that it counts: with less, a coordinator that lies can have the sum of very few,
// see [secagg.SmallestSum].
//
// A bound that a plan has stays, and so does a field whose name is in set: an author may want none.
func Guard(p *wire.Plan, set ...string) {
	if p.Secure > 0 && !slices.Contains(set, "quorum") {
		p.Quorum = max(p.Quorum, guardedQuorum(p))
	}
	if p.DPClip > 0 || p.Secure > 0 {
		return
	}
	if p.Transport != wire.DenseVectors && p.Bound == 0 &&
		!slices.Contains(set, "bound") {
		p.Bound = 8
	}
	if p.ClaimBound == 0 && !slices.Contains(set, "claim_bound") {
		p.ClaimBound = 8
	}
}

// guardedQuorum returns a quorum that is the threshold of a round's sum, 0 for none.
func guardedQuorum(p *wire.Plan) uint32 {
	asked := p.Sampled(wire.MaxMembers)
	if degree, _ := secagg.Graph(int(asked)); degree+1 < int(asked) {
		return 0
	}
	return min((3*asked+3)/4, p.Target, p.Members)
}
