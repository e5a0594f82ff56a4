package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

func (r *Round) append(b []byte) []byte {
	n := 2 // step and terms are always present
	for _, v := range []uint64{
		r.Round, uint64(r.Attempt), uint64(r.Perturbations), uint64(r.Contributors),
		uint64(len(r.Slots)), uint64(r.Phase), uint64(len(r.Weights)), uint64(r.Population),
		uint64(len(r.Object)),
	} {
		if v != 0 {
			n++
		}
	}
	factor := r.Factor != 0 && r.Factor != 1
	if factor {
		n++
	}
	b = codec.AppendMap(b, n)
	b = appendField(b, keyRound, r.Round)
	b = appendField(b, keyAttempt, uint64(r.Attempt))
	b = codec.AppendFinite(append(b, keyStep), r.StepSize)
	b = appendField(b, keyPerturbations, uint64(r.Perturbations))
	b = appendField(b, keyContributors, uint64(r.Contributors))
	if len(r.Slots) > 0 {
		b = codec.AppendArray(append(b, keySlots), len(r.Slots))
		for _, s := range r.Slots {
			b = codec.AppendUint(b, uint64(s))
		}
	}
	b = codec.AppendArray(append(b, keyTerms), len(r.Terms))
	for _, t := range r.Terms {
		b = codec.AppendUint(codec.AppendArray(b, 3), t.Back)
		b = codec.AppendUint(b, uint64(t.Source))
		b = codec.AppendBin(b, t.Scalars)
	}
	if len(r.Object) > 0 {
		b = codec.AppendBin(append(b, keyObject), r.Object)
	}
	b = appendField(b, keyPhase, uint64(r.Phase))
	if len(r.Weights) > 0 {
		b = codec.AppendArray(append(b, keyWeights), len(r.Weights))
		for _, w := range r.Weights {
			b = codec.AppendUint(b, uint64(w))
		}
	}
	b = appendField(b, keyPopulation, uint64(r.Population))
	if factor {
		b = codec.AppendFinite(append(b, keyFactor), r.Factor)
	}
	return b
}

func appendField(b []byte, key byte, v uint64) []byte {
	if v == 0 {
		return b
	}
	return codec.AppendUint(append(b, key), v)
}

// round reads the round of record n into r, or into a new Round if r is nil.
func (d *reader) round(n uint64, r *Round) *Round {
	if r == nil {
		r = &Round{}
	}
	*r = Round{Slots: r.Slots[:0], Terms: r.Terms[:0], Weights: r.Weights[:0], Object: r.Object[:0]}
	step, terms := false, false
	d.Keys("body", func(key uint64) bool {
		switch key {
		case keyRound:
			r.Round = d.Nonzero("round", d.Uint("round", math.MaxInt64))
		case keyAttempt:
			r.Attempt = uint32(d.Nonzero("attempt", d.Uint("attempt", math.MaxUint32)))
		case keyStep:
			r.StepSize, step = d.Finite("step"), true
		case keyPerturbations:
			r.Perturbations = uint32(
				d.Nonzero("perturbations", d.Uint("perturbations", math.MaxUint16)))
		case keyContributors:
			r.Contributors = uint32(
				d.Nonzero("contributors", d.Uint("contributors", math.MaxUint32)))
		case keySlots:
			r.Slots = d.slots(r.Slots)
		case keyTerms:
			r.Terms, terms = d.terms(n, r.Terms), true
		case keyObject:
			var digest [ObjectLen]byte
			d.bytes("object", digest[:])
			r.Object = append(r.Object, digest[:]...)
		case keyPhase:
			r.Phase = uint8(d.Nonzero("phase", d.Known("phase", 2)))
		case keyWeights:
			r.Weights = d.weights(r.Weights)
		case keyPopulation:
			r.Population = uint32(d.Nonzero("population", d.Uint("population", plan.MaxMembers)))
		case keyFactor:
			if r.Factor = d.Finite("factor"); r.Factor == 0 || r.Factor == 1 {
				d.Fail("factor", ErrForm) // left out
			}
		default:
			return false
		}
		return true
	})
	if !step {
		d.Fail("step", ErrForm)
	}
	if !terms {
		d.Fail("terms", ErrForm)
	}
	return r
}

// slots reads the contributors' slots, which ascend, into the memory of slots.
func (d *reader) slots(slots []uint32) []uint32 {
	slots = room(slots, d.Array("slots", MaxSlots, 1))
	d.Nonzero("slots", uint64(len(slots)))
	for i := range slots {
		slots[i] = uint32(d.Uint("slots", plan.MaxMembers-1))
		if d.OK() && i > 0 && slots[i] <= slots[i-1] {
			d.Fail("slots", ErrForm)
		}
	}
	return slots
}

// weights reads the weights of terms into the memory of weights.
func (d *reader) weights(weights []uint32) []uint32 {
	weights = room(weights, d.Array("weights", MaxTerms, 1))
	d.Nonzero("weights", uint64(len(weights)))
	for i := range weights {
		weights[i] = d.weight()
	}
	return weights
}

// room returns n elements, in the memory of s if s has the capacity.
func room[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]E, n)
}

// terms reads the terms of record n, which ascend by (Back, Source), into the memory
// of terms if they fit. Record 1 is the plan, so n-Back is at least 2.
func (d *reader) terms(n uint64, terms []Term) []Term {
	terms = room(terms, d.Array("terms", MaxTerms, 5))
	for i := range terms {
		d.Tuple("term", 3)
		t := &terms[i]
		t.Back = d.Uint("term back", math.MaxInt64)
		t.Source = uint32(d.Uint("term source", plan.MaxMembers))
		t.Scalars = d.scalars("term scalars", plan.MaxScalars)
		if t.Back > n-2 {
			d.Fail("term back", ErrValue)
		}
		if i > 0 && !before(terms[i-1], *t) {
			d.Fail("terms", ErrForm)
		}
		if !d.OK() {
			return nil
		}
	}
	return terms
}

func before(a, b Term) bool {
	return a.Back < b.Back || a.Back == b.Back && a.Source < b.Source
}
