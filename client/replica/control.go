package replica

import (
	"fmt"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Control variates: FZooS (6), each local step adds c - c_i to its estimate.
//
// ScaffoldPoint, (91): c and c_i are along the P directions of the record of phase 1,
// so that what is replicated is P scalars, and a correction P terms.
//
// ScaffoldMean: S is the sum over all devices of c_i, c = S/N. A record moves x along
// c less the mean of its contributors' c_i, whose terms it has, and then
//
//	S += m (mean over the steps of the mean estimate - mean of the contributors' c_i)
//
// for m contributors: each took what it found for its c_i.

// Dense, either: c is a vector that records replace, c_i the device's own.

// pending is the phase that another follows.
type pending struct {
	n       uint64    // its record; 0: none
	scalars []float32 // means; none of a dense run
}

// Phase returns the phase of the round that follows: 0, or of control=scaffold-1 and
// of estimator=surrogate 1 or 2.
func (r *Replica) Phase() uint8 { return r.plan.Phase(r.pending.n) }

// Pending returns the record of phase 1 that phase 2 follows and its P, of a dense run
// 0; zeros if that is not what follows.
func (r *Replica) Pending() (n uint64, perturbations int) {
	return r.pending.n, len(r.pending.scalars)
}

// point keeps what the record of phase 1 has.
func (r *Replica) point(n uint64, round *wire.Round) {
	r.pending.n, r.pending.scalars = n, r.pending.scalars[:0]
	t := round.Terms[0].Scalars
	for i := range r.plan.Precision.Len(t) {
		r.pending.scalars = append(r.pending.scalars, r.plan.Precision.At(t, i))
	}
}

// olderFits says whether a term along an older record's directions can be of record n.
func (r *Replica) olderFits(n uint64, t wire.Term, scalars int) bool {
	switch {
	case t.Source != prng.Shared || t.Back == 0 || scalars <= 0:
		return false
	case r.plan.Control == wire.ScaffoldPoint:
		return t.Back == n-r.pending.n && scalars == len(r.pending.scalars)
	}
	return r.plan.Control == wire.ScaffoldMean && scalars%int(r.plan.Steps) == 0
}

// olderPerturbations is P of the record that a term's directions are of.
func (r *Replica) olderPerturbations(t wire.Term) int {
	scalars := r.plan.Precision.Len(t.Scalars)
	if r.plan.Control == wire.ScaffoldPoint {
		return scalars
	}
	return scalars / int(r.plan.Steps)
}

// addOlder adds the terms of a round's correction, which all its steps have.
func (r *Replica) addOlder(mv *move, n uint64, round *wire.Round) {
	before := len(r.terms)
	for _, t := range round.Terms[min(1, len(round.Terms)):] {
		if t.Back > 0 {
			r.addVariate(n-t.Back, t.Scalars)
		}
	}
	mv.older = len(r.terms) - before
	switch r.plan.Control {
	case wire.ScaffoldPoint:
		r.pending.n, r.pending.scalars = 0, r.pending.scalars[:0]
	case wire.ScaffoldMean:
		mv.inverse, mv.contributors = inverse(r.population), float32(round.Contributors)
		r.population = round.Population
	}
}

// inverse is 1/N, and 0 before the first round.
func inverse(population uint32) float32 {
	if population == 0 {
		return 0
	}
	return 1 / float32(population)
}

// addVariate adds the terms of a control variate of record n. ScaffoldPoint:
// (c_p - s_p)/P, the correction itself. ScaffoldMean: s/(K P), which is c_i.
func (r *Replica) addVariate(n uint64, scalars wire.Scalars) {
	count := r.plan.Precision.Len(scalars)
	p := count
	if r.plan.Control == wire.ScaffoldMean {
		p = count / int(r.plan.Steps)
	}
	for i := range count {
		s := r.plan.Precision.At(scalars, i)
		if r.plan.Control == wire.ScaffoldPoint {
			s = r.pending.scalars[i] - s
		}
		r.addTerm(s/float32(count), r.aimed(n, i/p, i%p, prng.Shared), i == 0)
	}
}

// Correct sets dst, of d elements, to c - c_i for the round that follows, own being
// the device's control variate: of control=scaffold-1 its scalars of the record that
// [Replica.Pending] names, of scaffold-2 those of its last contribution that counted,
// or none. The error is a wire.ErrValue where that cannot be, such as in a dense run,
// whose devices have c_i themselves and c of [Replica.Control].
func (r *Replica) Correct(dst []float32, own wire.ControlVariate) error {
	if len(dst) != len(r.x) {
		panic(lengthMismatch)
	}
	count := r.plan.Precision.Len(own.Scalars)
	switch {
	case r.dense():
		return fmt.Errorf("replica: control variate of a dense run: %w: subtract it from Control", wire.ErrValue)
	case r.plan.Control == wire.ScaffoldPoint && r.Phase() == 2 && own.N == r.pending.n && count == len(r.pending.scalars):
	case r.plan.Control == wire.ScaffoldMean && r.hasVariate(own.N, count):
	default:
		return fmt.Errorf("replica: control variate of %d scalars of record %d: %w", count, own.N, wire.ErrValue)
	}
	mv := move{inverse: inverse(r.population), spanned: r.spanned()}
	r.addVariate(own.N, own.Scalars)
	mv.older = len(r.terms)
	r.equip()
	r.correcting, r.correction = mv, dst
	r.teamFor(r.plan.Dim*uint64(max(1, mv.older))).Do(blocksOf(len(dst)), r.correctTask)
	r.correcting, r.correction = move{}, nil
	r.terms, r.spans = r.terms[:0], r.spans[:0]
	return nil
}

// hasVariate says whether a contribution to record n can have had so many scalars;
// none are of no record, or of any.
func (r *Replica) hasVariate(n uint64, scalars int) bool {
	if scalars == 0 {
		return n <= r.n
	}
	return n >= 2 && n <= r.n && scalars > 0 && scalars <= wire.MaxScalars && scalars%int(r.plan.Steps) == 0
}

func (r *Replica) correctBlock(worker, i int) {
	dst := block(r.correction, i*prng.BlockLen)
	s := r.scratch[worker].of(len(dst))
	r.correct(dst, s.older, block(r.control, i*prng.BlockLen), &r.correcting, r.terms, r.spans, i)
}

// correct sets dst to a block of c less the mean of c_i, and older to the latter
// where S needs it: control is S.
func (r *Replica) correct(dst, older, control []float32, mv *move, terms []prng.Term, spans []float32, i int) {
	if r.plan.Control == wire.ScaffoldPoint {
		r.sum(dst, terms[:mv.older], spans, mv.spanned, i)
		return
	}
	clear(older)
	prng.Sum(older, terms[:mv.older], uint32(i))
	mathx.Scale(dst, mv.inverse, control)
	mathx.Axpy(dst, -1, older)
}
