package replica

import (
	"cmp"
	"errors"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// ErrObject: the bytes are not the requested object, or the state still needs an object. Fetch the
// objects that [Replica.Missing] names.
var ErrObject = errors.New("replica: wrong or missing object")

// An Object is a vector that the state lacks, with transport=dense. A record names the vector by
// its digest.
type Object struct {
	N        uint64 // the record
	Digest   [wire.ObjectLen]byte
	Elements uint64 // float32, [plan.Plan.Object]
}

// An objectState is the part of the state that one kind of object replaces: x (for scaffold-2
// together with c), or c of scaffold-1 or svrg, or w of a surrogate.
//
// Invariant: the contents of that part are valid after every record in [from, missingFrom), or in
// [from, n] if no object is missing.
type objectState struct {
	from        uint64 // record of the object that the part holds; 0: none yet
	missingFrom uint64 // first of the later records whose objects are missing; 0: none
	want        Object // object of the last such record; N = 0: none
}

// The kinds of objects of a run.
const (
	ofParams = iota
	ofOther
	kinds
)

// kindOf returns the kind of object that a record of this phase names.
func kindOf(p *plan.Plan, phase uint8) int {
	if (p.Estimator == plan.Surrogate) == (phase == 2) && phase > 0 {
		return ofOther
	}
	return ofParams
}

// addDense notes that a round's object is missing. If an older object of the same kind is missing
// too, the state no longer needs the older object.
func (r *Replica) addDense(n uint64, round *wire.Round) {
	h := &r.objects[kindOf(&r.plan, round.Phase)]
	h.missingFrom = cmp.Or(h.missingFrom, n)
	h.want = Object{N: n, Digest: [wire.ObjectLen]byte(round.Object),
		Elements: r.plan.Object(round.Phase)}
	r.trimNorms()
	if r.pending.n = 0; round.Phase == 1 {
		r.pending.n = n
		return
	}
	r.rounds = round.Round
}

// settle updates whole, the last record after which all parts of the state are valid.
func (r *Replica) settle() {
	from, missing := uint64(0), r.n+1
	for i := range r.objects {
		h := &r.objects[i]
		from = max(from, h.from)
		if h.missingFrom > 0 {
			missing = min(missing, h.missingFrom)
		}
	}
	if from < missing {
		r.whole = missing - 1
	}
}

// Missing returns the objects that the state after record N lacks, by ascending N: at most two,
// however many records were applied, and nil if the state is whole. With other transports no object
// is ever missing.
func (r *Replica) Missing() []Object {
	var missing []Object
	for i := range r.objects {
		if want := r.objects[i].want; want.N > 0 {
			missing = append(missing, want)
		}
	}
	if len(missing) == 2 && missing[1].N < missing[0].N {
		missing[0], missing[1] = missing[1], missing[0]
	}
	return missing
}

// Whole returns the last record after which the state is or was whole: N if no object is missing.
// While an object is missing, Params are the parameters after record Whole. But if two objects were
// missing and Supply brought the parameters first, Params are those of a later record.
func (r *Replica) Whole() uint64 { return r.whole }

// Weights returns the surrogate's w after the last record: [plan.Plan.Features] elements, zeros
// before the first object. With other estimators w is empty. w is valid as long as Params.
func (r *Replica) Weights() []float32 { return r.w }

// Control returns the control variate c after the last record with transport=dense: d elements,
// zeros before the first object, valid as long as Params. c is empty without control. c is also
// empty with other transports, where [Replica.Correct] computes the correction.
func (r *Replica) Control() []float32 {
	if !r.dense() {
		return nil
	}
	return r.control
}
