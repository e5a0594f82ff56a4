package replica

import (
	"cmp"
	"fmt"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// One pass over the blocks of the model applies all pending rounds, so that the CPU loads each
// block into its cache only once. maxMoves and maxTerms limit the pending rounds.
const (
	maxMoves = 64
	maxTerms = 4096 // unless one round alone has more
)

// addRound makes a round pending, or returns an error if no coordinator of a run with this plan can
// have made the round.
func (r *Replica) addRound(n uint64, round *wire.Round) error {
	defer clear(round.Terms) // terms alias the record
	if err := r.checkRound(n, round); err != nil {
		return err
	}
	r.transport.add(r, n, round)
	return nil
}

// addScalars makes a round of scalars pending: its K local steps, or, in a first phase, its
// scalars.
func (r *Replica) addScalars(n uint64, round *wire.Round, t scalarTransport) {
	if r.Phase() == 1 {
		r.setPending(n, round)
		return
	}
	terms := len(r.pending.scalars) // of SVRG's c
	for i := range round.Terms {
		terms += r.scalarsOf(round, &round.Terms[i])
	}
	if len(r.moves) == maxMoves || len(r.terms)+terms > maxTerms {
		r.flush()
	}
	r.measureRound(n, round)
	mv := move{
		steps: int(r.plan.Steps), eta: round.StepSize, hasBasis: r.hasBasis(), round: round.Round,
		factor: cmp.Or(round.Factor, 1),
	}
	if r.normalizes() {
		mv.inverseRoot = r.running.Count(&r.plan, r.meanSquare(round))
	}
	if r.plan.Control != plan.NoControl {
		r.addOlder(&mv, n, round)
	}
	mv.terms = t.addTerms(r, n, round)
	r.moves = append(r.moves, mv)
	r.trimNorms()
	r.rounds = round.Round
	for _, follow := range r.afterRound {
		follow()
	}
}

// addTerm adds a z to the pending terms. first says that the term is the first of a local step.
func (r *Replica) addTerm(a float32, z *Direction, first bool) {
	a = r.slope(a)
	r.terms = append(r.terms, prng.Term{A: z.along(a), Z: z.z})
	if len(r.basis) == 0 {
		return
	}
	if first {
		r.coefs = append(r.coefs, zeroCoefs[:len(r.basis)]...)
	}
	sum := r.coefs[len(r.coefs)-len(r.basis):]
	for j, v := range z.coefs[:z.tau] {
		sum[j] += float32(a * v)
	}
}

var zeroCoefs [plan.MaxSubspace]float32

// measureRound computes the norms of all sphere directions of a round at once.
func (r *Replica) measureRound(n uint64, round *wire.Round) {
	if r.plan.Distribution != plan.Sphere {
		return
	}
	r.wanted = r.wanted[:0]
	for i := range round.Terms {
		r.wantTerm(n, round, &round.Terms[i])
	}
	r.measureNorms()
}

// wantTerm adds the directions of a term to the norms that measureNorms computes.
func (r *Replica) wantTerm(n uint64, round *wire.Round, t *wire.Term) {
	p := int(round.Perturbations)
	if t.Back > 0 {
		p = r.olderPerturbations(t.Scalars)
	}
	for i := range r.scalarsOf(round, t) {
		r.wantNorm(r.address(n-t.Back, i/p, i%p, t.Source))
	}
}

// checkRound refuses a round that the plan cannot have made.
func (r *Replica) checkRound(n uint64, round *wire.Round) error {
	switch {
	case !(round.StepSize > 0) && !(round.StepSize == 0 && r.normalizes()):
		return fmt.Errorf("step %v: %w", round.StepSize, wire.ErrValue)
	case round.Factor != 0 && !(round.Factor > 0 && r.plan.ServerRule.Steps()):
		return fmt.Errorf("factor %v with server_rule=%v: %w",
			round.Factor, r.plan.ServerRule, wire.ErrValue)
	case round.Perturbations == 0:
		return fmt.Errorf("perturbations 0: %w", wire.ErrValue)
	case round.Phase != r.Phase():
		return fmt.Errorf("phase %d, want %d: %w", round.Phase, r.Phase(), wire.ErrValue)
	case r.plan.Distribution == plan.Subspace && round.Round != r.rounds+1:
		return fmt.Errorf("round %d after %d: %w", round.Round, r.rounds, wire.ErrValue)
	case r.pool != nil && round.Round != r.rounds+1:
		return fmt.Errorf("round %d after %d: %w", round.Round, r.rounds, wire.ErrValue)
	}
	return r.transport.check(r, n, round)
}

// checkScalars refuses a round of scalars that the plan cannot have made. relayed says that the
// round has a term for each contributor.
func (r *Replica) checkScalars(n uint64, round *wire.Round, relayed bool) error {
	if len(round.Object) > 0 {
		return fmt.Errorf("an object with transport=%v: %w", r.plan.Transport, wire.ErrValue)
	}
	if err := r.checkTerms(n, round, relayed); err != nil {
		return err
	}
	return r.checkParts(round, relayed)
}

// checkTerms refuses terms that do not fit the plan's transport and control.
func (r *Replica) checkTerms(n uint64, round *wire.Round, relayed bool) error {
	precision, steps, p := r.plan.TermPrecision(), int(r.plan.Steps), int(round.Perturbations)
	if round.Phase == 1 {
		steps = 1
	}
	for i, t := range round.Terms {
		// own: the term is along this round's directions
		own := relayed && (t.Back == 0 || r.plan.Late == 0) || !relayed && i == 0
		switch scalars := precision.Len(t.Scalars); {
		case own && t.Back != 0, own && relayed != (t.Source != prng.Shared):
			return fmt.Errorf("term %d along %d records back, source %d: %w",
				i, t.Back, t.Source, wire.ErrValue)
		case own && !precision.Fits(t.Scalars, steps, p):
			return fmt.Errorf("%d bytes are no scalars for %d steps of %d perturbations: %w",
				len(t.Scalars), steps, p, wire.ErrValue)
		case !own && !r.olderFits(n, t, scalars) && !r.lateFits(t, scalars, relayed):
			return fmt.Errorf("term %d of %d scalars along %d records back, source %d: %w",
				i, scalars, t.Back, t.Source, wire.ErrValue)
		}
	}
	alone := !relayed && !r.plan.SendsControl() && r.plan.Late == 0
	if len(round.Terms) == 0 || len(round.Terms) > 1 && (alone || round.Phase == 1) ||
		len(round.Terms) != 2 && round.Phase == 2 && !alone {
		return fmt.Errorf("%d terms: %w", len(round.Terms), wire.ErrValue)
	}
	return nil
}

// checkParts checks the fields that rounds of only some plans have.
func (r *Replica) checkParts(round *wire.Round, relayed bool) error {
	weighted := relayed && r.plan.Weights != plan.Equal
	corrected := r.plan.Control == plan.ScaffoldMean
	switch {
	case weighted && len(round.Weights) != len(round.Terms), !weighted && len(round.Weights) > 0:
		return fmt.Errorf("%d weights for %d terms: %w",
			len(round.Weights), len(round.Terms), wire.ErrValue)
	case corrected && (round.Contributors == 0 || round.Population < round.Contributors),
		!corrected && round.Population > 0:
		return fmt.Errorf("%d contributors in a population of %d: %w",
			round.Contributors, round.Population, wire.ErrValue)
	}
	return nil
}
