package replica

import (
	"slices"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// This file applies late contributions (Plan.Late): a record may have terms along the directions of
// older records. Let s be late scalars along record n-b, K*P' numbers that the coordinator has
// discounted. Step k of record n has the estimate
//
//	v = (1/P) sum_p g[k,p] z(n,k,p) + sum of the older terms' (1/P') sum_p s[k,p] z(n-b,k,p)
//
// in the order of the record: first the record's own directions, then the directions of each older
// term. The replica then uses v as in any other record: with the plan's rule, weight decay and
// prox, the record's step size, and the server rule on the sum of all steps.

// lateFits reports whether a record may contain t, a term of late contributions.
func (r *Replica) lateFits(t wire.Term, scalars int, relayed bool) bool {
	return r.plan.Late > 0 && t.Back > 0 && relayed == (t.Source != prng.Shared) &&
		scalars > 0 && scalars%int(r.plan.Steps) == 0
}

// stepTerms returns P, the scalars of a term for each local step. For the record's own directions
// the record says P. For older directions P is the number of scalars divided by the number of
// steps.
func (r *Replica) stepTerms(round *wire.Round, t *wire.Term) int {
	if t.Back == 0 {
		return int(round.Perturbations)
	}
	return r.plan.TermPrecision().Len(t.Scalars) / int(r.plan.Steps)
}

// scalarsOf returns the number of scalars of a term.
func (r *Replica) scalarsOf(round *wire.Round, t *wire.Term) int {
	if t.Back == 0 {
		return int(r.plan.Steps) * int(round.Perturbations)
	}
	return r.plan.TermPrecision().Len(t.Scalars)
}

// block returns a term's scalars for local step k. The scalars are valid until the next call.
func (r *Replica) block(round *wire.Round, t *wire.Term, k int) []float32 {
	r.decode(t.Scalars, r.stepTerms(round, t), k)
	return r.values
}

// decode sets r.values to the n scalars of block k of s.
func (r *Replica) decode(s wire.Scalars, n, k int) {
	r.values = slices.Grow(r.values[:0], n)[:n]
	r.plan.TermPrecision().Decode(r.values, s, k)
}

// addMeans adds the terms of a round of means, and returns how many terms each step has. The number
// does not include older terms of control variates.
func (r *Replica) addMeans(n uint64, round *wire.Round) (terms int) {
	means := round.Terms[:1]
	if r.plan.Late > 0 {
		means = round.Terms
	}
	for k := range int(r.plan.Steps) {
		terms = 0
		for i := range means {
			t := &means[i]
			block := r.block(round, t, k)
			for q, g := range block {
				a := g / float32(len(block))
				r.addTerm(a, r.tempDirection(n-t.Back, k, q, prng.Shared), terms == 0)
				terms++
			}
		}
	}
	return terms
}
