package replica

import (
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// ErrObject: bytes are not the object that they should be, or an object that the
// state needs is missing. Fetch those that [Replica.Missing] names.
var ErrObject = errors.New("replica: wrong or missing object")

// An Object is a vector that a record of a dense run names and the state lacks.
type Object struct {
	N        uint64 // the record
	Digest   [wire.ObjectLen]byte
	Elements uint64 // float32, [wire.Plan.Object]
}

// A holding is what one kind of object replaces: x, with c of scaffold-2, or else c of
// scaffold-1 or w of a surrogate.
//
// Invariant: what it holds is of records [of, lost), or [of, n] if nothing is missing.
type holding struct {
	of   uint64 // record of the object that it holds, 0: none yet
	lost uint64 // first record since whose object did not come, 0: none
	want Object // of the last such record; N = 0: none
}

// The kinds of objects of a run.
const (
	ofParams = iota
	ofOther
	kinds
)

// dense says whether the run's records name objects.
func (r *Replica) dense() bool { return r.plan.Transport == wire.DenseVectors }

// kindOf is what the object of a phase replaces.
func kindOf(p *wire.Plan, phase uint8) int {
	if p.Estimator == wire.Surrogate && phase == 2 || p.Control == wire.ScaffoldPoint && phase == 1 {
		return ofOther
	}
	return ofParams
}

// addDense notes that a round's object is missing. An older one of its kind is not
// needed any more: it would be replaced.
func (r *Replica) addDense(n uint64, round *wire.Round) {
	h := &r.held[kindOf(&r.plan, round.Phase)]
	if h.lost == 0 {
		h.lost = n
	}
	h.want = Object{N: n, Digest: [wire.ObjectLen]byte(round.Object), Elements: r.plan.Object(round.Phase)}
	r.forget()
	if r.pending.n = 0; round.Phase == 1 {
		r.pending.n = n
		return
	}
	r.rounds = round.Round
}

// settle finds the last record after which the state was whole: what is held is of it.
func (r *Replica) settle() {
	of, lost := uint64(0), r.n+1
	for i := range r.held {
		h := &r.held[i]
		of = max(of, h.of)
		if h.lost > 0 {
			lost = min(lost, h.lost)
		}
	}
	if of < lost {
		r.whole = lost - 1
	}
}

// Missing returns the objects that the state after record N lacks, by ascending N and
// at most two, whatever the number of records; nil: the state is whole. Runs with
// other transports lack none.
func (r *Replica) Missing() []Object {
	var missing []Object
	for i := range r.held {
		if want := r.held[i].want; want.N > 0 {
			missing = append(missing, want)
		}
	}
	if len(missing) == 2 && missing[1].N < missing[0].N {
		missing[0], missing[1] = missing[1], missing[0]
	}
	return missing
}

// Whole returns the last record after which the state is or was whole: N if nothing is
// missing. Until then Params are of it, or of a later record if Supply brought those
// before what else is missing.
func (r *Replica) Whole() uint64 { return r.whole }

// checkDense refuses a round that a dense run cannot have made; others have no object.
func (r *Replica) checkDense(round *wire.Round) error {
	switch {
	case !r.dense() && len(round.Object) > 0:
		return fmt.Errorf("an object with transport=%v: %w", r.plan.Transport, wire.ErrValue)
	case !r.dense():
		return nil
	case len(round.Object) != wire.ObjectLen:
		return fmt.Errorf("an object's digest of %d bytes, want %d: %w", len(round.Object), wire.ObjectLen, wire.ErrValue)
	case len(round.Terms) > 0:
		return fmt.Errorf("%d terms with transport=%v: %w", len(round.Terms), r.plan.Transport, wire.ErrValue)
	case len(round.Slots) > 0 || len(round.Weights) > 0 || round.Population > 0:
		return fmt.Errorf("%d slots, %d weights, a population of %d with transport=%v: %w",
			len(round.Slots), len(round.Weights), round.Population, r.plan.Transport, wire.ErrValue)
	}
	return nil
}

// Weights returns w of a surrogate after the last record, [wire.Plan.Features]
// elements and zeros before the first, empty for other estimators, under the same terms
// as Params.
func (r *Replica) Weights() []float32 { return r.w }

// Control returns the control variate c of a dense run after the last record, d
// elements and zeros before the first, under the same terms as Params; empty without
// control, and with other transports, where [Replica.Correct] makes the correction.
func (r *Replica) Control() []float32 {
	if !r.dense() {
		return nil
	}
	return r.control
}
