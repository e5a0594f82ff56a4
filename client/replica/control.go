package replica

import (
	"fmt"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Control variates (FZooS (6)): each local step adds c - c_i to its estimate.
//
// ScaffoldPoint, (91): c and c_i are combinations of the P directions of the phase-1
// record. Replicas therefore store P scalars, and a correction has P terms.
//
// ScaffoldMean: S is the sum of c_i over all devices, and c = S/N. A record carries the terms of
// the mean of its contributors' c_i. The record moves x along c minus this mean, then updates S:
//
//	S += m (mean over the steps of the mean estimate - mean of the contributors' c_i)
//
// for m contributors, because each contributor takes its new estimate as its c_i.

// SVRG (Liu et al. 2018): c is the combination of the P directions of the phase-1 record, as above.
// SVRG has no c_i, because a device's scalars already contain what c_i would subtract.

// With transport=dense, in all variants, records replace the vector c, and each device
// keeps its own c_i.

// pending is a phase-1 record that still waits for phase 2.
type pending struct {
	n       uint64    // index of the phase-1 record; 0: none
	scalars []float32 // its mean scalars; empty with transport=dense
}

// Phase returns the phase of the next round: 1 or 2 with control=scaffold-1 or svrg, or
// estimator=surrogate, otherwise 0.
func (r *Replica) Phase() uint8 { return r.plan.Phase(r.pending.n) }

// Draw returns the record for which the cohorts of record n are drawn, see [plan.Plan.Draw]. Of the
// records after N, Draw(n) can differ from n only for n = N+1.
func (r *Replica) Draw(n uint64) uint64 {
	if n > r.N()+1 {
		return n
	}
	return r.plan.Draw(n, r.pending.n)
}

// Pending returns the index of the phase-1 record and its number P of perturbations if phase 2 is
// next, else zeros. With transport=dense P is 0.
func (r *Replica) Pending() (n uint64, perturbations int) {
	return r.pending.n, len(r.pending.scalars)
}

// setPending stores the scalars of a phase-1 record.
func (r *Replica) setPending(n uint64, round *wire.Round) {
	r.decode(round.Terms[0].Scalars, int(round.Perturbations), 0)
	r.pending.n, r.pending.scalars = n, append(r.pending.scalars[:0], r.values...)
}

// olderFits reports whether record n may contain t, a term along an older record's
// directions.
func (r *Replica) olderFits(n uint64, t wire.Term, scalars int) bool {
	switch {
	case t.Source != prng.Shared || t.Back == 0 || scalars <= 0:
		return false
	case r.plan.Control == plan.ScaffoldPoint:
		return t.Back == n-r.pending.n && scalars == len(r.pending.scalars)
	}
	return r.plan.Control == plan.ScaffoldMean && scalars%int(r.plan.Steps) == 0
}

// olderPerturbations returns P, the number of perturbations, of the older record along whose
// directions a term's scalars are.
func (r *Replica) olderPerturbations(scalars wire.Scalars) int {
	count := r.plan.Precision.Len(scalars)
	if r.plan.Control == plan.ScaffoldPoint {
		return count
	}
	return count / int(r.plan.Steps)
}

// addOlder adds the terms of a round's correction. The same terms apply to all local steps of the
// round.
func (r *Replica) addOlder(mv *move, n uint64, round *wire.Round) {
	before := len(r.terms)
	r.addPoint()
	for _, t := range round.Terms[min(1, len(round.Terms)):] {
		if t.Back > 0 {
			r.addVariate(n-t.Back, t.Scalars)
		}
	}
	mv.older = len(r.terms) - before
	switch r.plan.Control {
	case plan.ScaffoldPoint, plan.SVRG:
		r.pending.n, r.pending.scalars = 0, r.pending.scalars[:0]
	case plan.ScaffoldMean:
		mv.inverse, mv.contributors = inverse(r.population), float32(round.Contributors)
		r.population = round.Population
	}
}

// inverse returns 1/N, or 0 before the first round.
func inverse(population uint32) float32 {
	if population == 0 {
		return 0
	}
	return 1 / float32(population)
}

// addPoint adds the terms of c with SVRG, c_p/P.
func (r *Replica) addPoint() {
	if r.plan.Control == plan.SVRG {
		r.addMean(r.pending.n, r.pending.scalars, len(r.pending.scalars))
	}
}

// addMean adds the terms of the mean of scalars along record n's directions, p of each step.
func (r *Replica) addMean(n uint64, scalars []float32, p int) {
	for i, s := range scalars {
		r.addTerm(s/float32(len(scalars)), r.tempDirection(n, i/p, i%p, prng.Shared), i == 0)
	}
}

// addVariate adds the terms of a control variate of record n. With ScaffoldPoint the terms are
// those of the correction itself, (c_p - s_p)/P. With ScaffoldMean they are those of c_i, s/(K P).
func (r *Replica) addVariate(n uint64, scalars wire.Scalars) {
	if r.decode(scalars, r.plan.Precision.Len(scalars), 0); r.plan.Control == plan.ScaffoldPoint {
		mathx.Sub(r.values, r.pending.scalars, r.values)
	}
	r.addMean(n, r.values, r.olderPerturbations(scalars))
}

// Correct sets dst, of d elements, to c - c_i for the next round; own is the device's control
// variate. With control=scaffold-1 own holds the device's scalars for the record that
// [Replica.Pending] names. With scaffold-2 own holds the scalars of the device's last contribution
// that counted, or no scalars. With svrg own is empty, and Correct sets dst to c. The error matches
// wire.ErrValue if own does not fit. With transport=dense Correct always returns this error: there
// a device subtracts its own c_i from [Replica.Control].
func (r *Replica) Correct(dst []float32, own wire.ControlVariate) error {
	if len(dst) != len(r.x) {
		panic(lengthMismatch)
	}
	count := r.plan.Precision.Len(own.Scalars)
	switch {
	case r.dense():
		return fmt.Errorf("replica: Correct with transport=dense: %w: subtract c_i from Control instead",
			wire.ErrValue)
	case r.plan.Control == plan.ScaffoldPoint && r.Phase() == 2 && own.N == r.pending.n &&
		count == len(r.pending.scalars):
	case r.plan.Control == plan.ScaffoldMean && r.hasVariate(own.N, count),
		r.plan.Control == plan.SVRG && r.Phase() == 2 && own.N == 0 && count == 0:
	default:
		return fmt.Errorf("replica: control variate of %d scalars of record %d: %w",
			count, own.N, wire.ErrValue)
	}
	r.addPoint()
	r.addVariate(own.N, own.Scalars)
	mv := move{inverse: inverse(r.population), hasBasis: r.hasBasis(), older: len(r.terms)}
	r.allocateScratch()
	r.correctionMove, r.correction = mv, dst
	team := r.teamFor(r.plan.Dim * uint64(max(1, mv.older)))
	r.generator.each(team, blocksOf(len(dst), prng.BlockLen), r.correctTask)
	r.correctionMove, r.correction = move{}, nil
	r.terms, r.coefs = r.terms[:0], r.coefs[:0]
	return nil
}

// hasVariate reports whether a control variate of record n can have this many scalars. Zero scalars
// fit any n up to the last record, also 0.
func (r *Replica) hasVariate(n uint64, scalars int) bool {
	if scalars == 0 {
		return n <= r.n
	}
	return n >= 2 && n <= r.n && scalars > 0 && scalars <= plan.MaxScalars &&
		scalars%int(r.plan.Steps) == 0
}

func (r *Replica) correctBlock(worker, i int) {
	dst := block(r.correction, i*prng.BlockLen, prng.BlockLen)
	s := r.scratch[worker].of(len(dst))
	control := block(r.control, i*prng.BlockLen, prng.BlockLen)
	r.correct(dst, s.older, control, &r.correctionMove, r.terms, r.coefs, i)
}

// correct sets dst to a block of c minus the mean of c_i. With ScaffoldMean correct also sets older
// to the mean of c_i; control is the block of S.
func (r *Replica) correct(dst, older, control []float32, mv *move, terms []prng.Term,
	coefs []float32, i int) {
	if r.plan.Control != plan.ScaffoldMean {
		r.sum(dst, terms[:mv.older], coefs, mv.hasBasis, i)
		return
	}
	clear(older)
	r.generator.sum(older, terms[:mv.older], uint32(i))
	mathx.Scale(dst, mv.inverse, control)
	mathx.Axpy(dst, -1, older)
}
