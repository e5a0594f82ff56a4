package wire

import "math"

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
	b = appendMap(b, n)
	b = appendField(b, keyRound, r.Round)
	b = appendField(b, keyAttempt, uint64(r.Attempt))
	b = appendFinite(append(b, keyStep), r.StepSize)
	b = appendField(b, keyPerturbations, uint64(r.Perturbations))
	b = appendField(b, keyContributors, uint64(r.Contributors))
	if len(r.Slots) > 0 {
		b = appendArray(append(b, keySlots), len(r.Slots))
		for _, s := range r.Slots {
			b = appendUint(b, uint64(s))
		}
	}
	b = appendArray(append(b, keyTerms), len(r.Terms))
	for _, t := range r.Terms {
		b = appendUint(appendArray(b, 3), t.Back)
		b = appendUint(b, uint64(t.Source))
		b = appendBin(b, t.Scalars)
	}
	if len(r.Object) > 0 {
		b = appendBin(append(b, keyObject), r.Object)
	}
	b = appendField(b, keyPhase, uint64(r.Phase))
	if len(r.Weights) > 0 {
		b = appendArray(append(b, keyWeights), len(r.Weights))
		for _, w := range r.Weights {
			b = appendUint(b, uint64(w))
		}
	}
	return appendField(b, keyPopulation, uint64(r.Population))
}

func appendField(b []byte, key byte, v uint64) []byte {
	if v == 0 {
		return b
	}
	return appendUint(append(b, key), v)
}

// round reads the round of record n into r, or into a new Round if r is nil.
func (d *reader) round(n uint64, r *Round) *Round {
	if r == nil {
		r = &Round{}
	}
	*r = Round{Slots: r.Slots[:0], Terms: r.Terms[:0], Weights: r.Weights[:0], Object: r.Object[:0]}
	step, terms := false, false
	d.keys("body", func(key uint64) bool {
		switch key {
		case keyRound:
			r.Round = d.nonzero("round", d.uint("round", math.MaxInt64))
		case keyAttempt:
			r.Attempt = uint32(d.nonzero("attempt", d.uint("attempt", math.MaxUint32)))
		case keyStep:
			r.StepSize, step = d.finite("step"), true
		case keyPerturbations:
			r.Perturbations = uint32(
				d.nonzero("perturbations", d.uint("perturbations", math.MaxUint16)))
		case keyContributors:
			r.Contributors = uint32(
				d.nonzero("contributors", d.uint("contributors", math.MaxUint32)))
		case keySlots:
			r.Slots = d.slots(r.Slots)
		case keyTerms:
			r.Terms, terms = d.terms(n, r.Terms), true
		case keyObject:
			var digest [ObjectLen]byte
			d.bytes("object", digest[:])
			r.Object = append(r.Object, digest[:]...)
		case keyPhase:
			r.Phase = uint8(d.nonzero("phase", d.known("phase", 2)))
		case keyWeights:
			r.Weights = d.weights(r.Weights)
		case keyPopulation:
			r.Population = uint32(d.nonzero("population", d.uint("population", MaxMembers)))
		default:
			return false
		}
		return true
	})
	if !step {
		d.fail("step", ErrForm)
	}
	if !terms {
		d.fail("terms", ErrForm)
	}
	return r
}

// slots reads the contributors' slots, which ascend, into the memory of slots.
func (d *reader) slots(slots []uint32) []uint32 {
	slots = room(slots, d.array("slots", MaxSlots, 1))
	d.nonzero("slots", uint64(len(slots)))
	for i := range slots {
		slots[i] = uint32(d.uint("slots", MaxMembers-1))
		if d.err == nil && i > 0 && slots[i] <= slots[i-1] {
			d.fail("slots", ErrForm)
		}
	}
	return slots
}

// weights reads the weights of terms into the memory of weights.
func (d *reader) weights(weights []uint32) []uint32 {
	weights = room(weights, d.array("weights", MaxTerms, 1))
	d.nonzero("weights", uint64(len(weights)))
	for i := range weights {
		weights[i] = d.weight()
	}
	return weights
}

// room returns n elements, in the memory of s if they fit.
func room[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]E, n)
}

// terms reads the terms of record n, which ascend by (Back, Source), into the memory
// of terms if they fit. Record 1 is the plan, so n-Back is at least 2.
func (d *reader) terms(n uint64, terms []Term) []Term {
	terms = room(terms, d.array("terms", MaxTerms, 5))
	for i := range terms {
		d.tuple("term", 3)
		t := &terms[i]
		t.Back = d.uint("term back", math.MaxInt64)
		t.Source = uint32(d.uint("term source", MaxMembers))
		t.Scalars = d.scalars("term scalars", MaxScalars)
		if t.Back > n-2 {
			d.fail("term back", ErrValue)
		}
		if i > 0 && !before(terms[i-1], *t) {
			d.fail("terms", ErrForm)
		}
		if d.err != nil {
			return nil
		}
	}
	return terms
}

func before(a, b Term) bool {
	return a.Back < b.Back || a.Back == b.Back && a.Source < b.Source
}
