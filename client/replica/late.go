package replica

import (
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Late contributions (Plan.Late): a record may have terms along the directions of older records.
// With late scalars s of K*P' numbers along record n-b, which the coordinator has discounted, step
// k of record n has the estimate
//
//	v = (1/P) sum_p g[k,p] z(n,k,p) + sum of the older terms' (1/P') sum_p s[k,p] z(n-b,k,p)
//
// in the order of the record: the record's own directions first, then those of each older term.
// What a plan does with v is the same as in any other record: its rule, weight decay and pull, the
// record's step size, and the server rule on the sum of all steps.

// lateFits reports whether a record may contain t, a term of late contributions.
func (r *Replica) lateFits(t wire.Term, scalars int, relayed bool) bool {
	return r.plan.Late > 0 && t.Back > 0 && relayed == (t.Source != prng.Shared) &&
		scalars > 0 && scalars%int(r.plan.Steps) == 0
}

// stepTerms returns P of a term: its scalars divided by the steps.
func (r *Replica) stepTerms(t *wire.Term) int {
	return r.plan.Precision.Len(t.Scalars) / int(r.plan.Steps)
}

// addMeans adds the terms of a round of means, and returns how many each step has. Older terms of
// control variates are no part of a step.
func (r *Replica) addMeans(n uint64, round *wire.Round) (terms int) {
	means := round.Terms[:1]
	if r.plan.Late > 0 {
		means = round.Terms
	}
	for k := range int(r.plan.Steps) {
		terms = 0
		for i := range means {
			t, p := &means[i], r.stepTerms(&means[i])
			for q := range p {
				a := r.plan.Precision.At(t.Scalars, k*p+q) / float32(p)
				r.addTerm(a, r.tempDirection(n-t.Back, k, q, prng.Shared), terms == 0)
				terms++
			}
		}
	}
	return terms
}
