package replica

import (
	"fmt"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// round applies the recursion of DeComFL's Algorithm 4, lines 3-10, block by
// block: elements do not depend on each other.
func (r *Replica) round(n uint64, round *wire.Round) error {
	if err := r.checkRound(round); err != nil {
		return err
	}
	steps, p := int(r.plan.Steps), int(round.Perturbations)
	scalars := round.Terms[0].Scalars
	terms := r.growTerms(steps * p)
	for k := range steps {
		r.fillTerms(terms[k*p:(k+1)*p], n, k, func(i int) float32 { return scalars.At(k*p + i) })
	}
	for start := 0; start < len(r.x); start += prng.BlockLen {
		x, m := r.block(r.x, start), r.block(r.m, start)
		for k := range steps {
			r.step(x, m, start, terms[k*p:(k+1)*p], round.Step)
		}
	}
	r.rounds = round.Round
	return nil
}

// checkRound refuses a round that this plan cannot have made.
func (r *Replica) checkRound(round *wire.Round) error {
	switch {
	case !(round.Step > 0):
		return fmt.Errorf("step %v: %w", round.Step, wire.ErrValue)
	case round.Perturbations == 0:
		return fmt.Errorf("perturbations 0: %w", wire.ErrValue)
	case len(round.Terms) != 1 || round.Terms[0].Back != 0 || round.Terms[0].Source != prng.Shared:
		return fmt.Errorf("terms other than the mean along shared directions: %w", wire.ErrValue)
	case round.Terms[0].Scalars.Len() != int(r.plan.Steps)*int(round.Perturbations):
		return fmt.Errorf("%d scalars for %d steps of %d perturbations: %w",
			round.Terms[0].Scalars.Len(), r.plan.Steps, round.Perturbations, wire.ErrValue)
	}
	return nil
}

// Advance moves a local iterate x with momentum m (empty for a rule without
// one) by local step k of record n along the scalars g of its perturbations,
// as the device itself estimated them: DeComFL, Algorithm 4, line 21, or
// (8)-(9). With the mean scalars it is what Apply does.
func (r *Replica) Advance(x, m []float32, n uint64, k int, g []float32, eta float32) {
	terms := r.growTerms(len(g))
	r.fillTerms(terms, n, k, func(i int) float32 { return g[i] })
	for start := 0; start < len(x); start += prng.BlockLen {
		r.step(r.block(x, start), r.block(m, start), start, terms, eta)
	}
}

// fillTerms sets terms[i] to (g(i)/P) z_i: z_i is perturbation i of step k.
func (r *Replica) fillTerms(terms []prng.Term, n uint64, k int, g func(int) float32) {
	for i := range terms {
		terms[i] = prng.Term{A: g(i) / float32(len(terms)), Z: r.Direction(n, k, i)}
	}
}

func (r *Replica) growTerms(n int) []prng.Term {
	if cap(r.terms) < n {
		r.terms = make([]prng.Term, n)
	}
	return r.terms[:n]
}

func (r *Replica) block(v []float32, start int) []float32 {
	if len(v) == 0 {
		return nil
	}
	return v[start:min(start+prng.BlockLen, len(v))]
}

// step is one local step of one block: v = sum of terms (+ decay x), then the
// rule.
func (r *Replica) step(x, m []float32, start int, terms []prng.Term, eta float32) {
	v := r.buffer[:len(x)]
	clear(v)
	prng.Sum(v, terms, uint32(start/prng.BlockLen))
	if r.plan.WeightDecay != 0 {
		mathx.Axpy(v, r.plan.WeightDecay, x)
	}
	switch r.plan.Rule {
	case wire.Momentum:
		mathx.Momentum(m, r.plan.Beta, 1-r.plan.Beta, v)
		v = m
	case wire.TorchMomentum:
		mathx.Momentum(m, r.plan.Beta, 1, v)
		v = m
	}
	r.eachSpan(start, len(x), func(s span, lo, hi int) {
		mathx.Descend(x[lo:hi], eta*s.step, v[lo:hi])
	})
}

// Direction returns z of record n, local step k, perturbation p.
func (r *Replica) Direction(n uint64, k, p int) prng.Direction {
	if r.keyN != n {
		r.keyN, r.key = n, prng.RecordKey(r.plan.RunKey, n)
	}
	return prng.Direction{
		Key:          r.key,
		Step:         uint16(k),
		Perturbation: uint16(p),
		Source:       prng.Shared,
		Domain:       prng.Directions,
		Dist:         prng.Distribution(r.plan.Distribution),
	}
}
