package replica

import (
	"fmt"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Rounds wait for each other up to these numbers, so that the vectors pass
// through the cache once for many of them.
const (
	maxMoves = 64
	maxTerms = 4096 // unless one round alone has more
)

// A move is the recursion of DeComFL's Algorithm 4, lines 3-10, for one round:
// that many local steps of as many terms each.
type move struct {
	steps, perturbations int
	eta                  float32
}

// addRound lets a round wait for flush, unless this plan cannot have made it.
func (r *Replica) addRound(n uint64, round *wire.Round) error {
	if err := r.checkRound(round); err != nil {
		return err
	}
	steps, p := int(r.plan.Steps), int(round.Perturbations)
	if len(r.moves) == maxMoves || len(r.terms)+steps*p > maxTerms {
		r.flush()
	}
	scalars := round.Terms[0].Scalars
	for i := range steps * p {
		r.addTerm(scalars.At(i), p, n, i/p, i%p)
	}
	r.moves = append(r.moves, move{steps, p, round.Step})
	r.rounds = round.Round
	clear(round.Terms) // they alias the record
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
	for i, v := range g {
		r.addTerm(v, len(g), n, k, i)
	}
	r.moves = append(r.moves, move{1, len(g), eta})
	r.move(x, m)
}

// addTerm adds the term (g/P) z of record n, local step k, perturbation p.
func (r *Replica) addTerm(g float32, perturbations int, n uint64, k, p int) {
	r.terms = append(r.terms, prng.Term{A: g / float32(perturbations), Z: r.Direction(n, k, p)})
}

// flush makes the moves that wait.
func (r *Replica) flush() {
	if len(r.moves) > 0 {
		r.move(r.x, r.m)
	}
}

// move makes the moves that wait on x and m: all of them on one block, which stays
// in a cache meanwhile, then on the next, as elements do not depend on each other.
func (r *Replica) move(x, m []float32) {
	team := r.teamFor(uint64(len(x)) * uint64(len(r.terms)))
	for len(r.scratch) < team.Workers() {
		r.scratch = append(r.scratch, make([]float32, min(prng.BlockLen, len(x))))
	}
	r.movedX, r.movedM = x, m
	team.Do((len(x)+prng.BlockLen-1)/prng.BlockLen, r.moveTask)
	r.moves, r.terms = r.moves[:0], r.terms[:0]
}

// moveBlock makes the moves on one block.
func (r *Replica) moveBlock(worker, i int) {
	start := i * prng.BlockLen
	x, m := block(r.movedX, start), block(r.movedM, start)
	v, terms := r.scratch[worker][:len(x)], r.terms
	for _, mv := range r.moves {
		for range mv.steps {
			r.step(x, m, v, start, terms[:mv.perturbations], mv.eta)
			terms = terms[mv.perturbations:]
		}
	}
}

func block(v []float32, start int) []float32 {
	if len(v) == 0 {
		return nil
	}
	return v[start:min(start+prng.BlockLen, len(v))]
}

// step is one local step of the elements from start on: v = sum of terms
// (+ decay x), then the rule.
func (r *Replica) step(x, m, v []float32, start int, terms []prng.Term, eta float32) {
	clear(v)
	prng.Sum(v, terms, uint32(start/prng.BlockLen))
	if r.plan.WeightDecay != 0 {
		mathx.Axpy(v, r.plan.WeightDecay, x)
	}
	gain := float32(1)
	if r.plan.Rule == wire.Momentum {
		gain -= r.plan.Beta
	}
	for i, lo := r.spanAt(start), 0; lo < len(x); i++ {
		hi, eta := min(r.spans[i].end-start, len(x)), eta*r.spans[i].step
		if r.plan.Rule == wire.SGD {
			mathx.Descend(x[lo:hi], eta, v[lo:hi])
		} else {
			mathx.MomentumStep(x[lo:hi], m[lo:hi], r.plan.Beta, gain, eta, v[lo:hi])
		}
		lo = hi
	}
}

// Direction returns z of record n, local step k, perturbation p.
func (r *Replica) Direction(n uint64, k, p int) prng.Direction {
	if r.keyN != n {
		if r.keys == nil {
			r.keys = prng.NewKeyring(r.plan.RunKey)
		}
		r.keyN, r.key = n, r.keys.Key(n)
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
