package compact

import (
	"math"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Flags of a record: the fields that it has beyond what the announcement implies.
const (
	flagStep          = 1 << iota // another step size than the announcement's
	flagPerturbations             // another number of perturbations than the announcement's
	flagTries                     // an attempt other than 0 closed the round
	flagEpoch                     // another epoch than the announcement's
	flagContributors              // another number than that of the terms
	flagWeights                   // weights of the terms
	flagOlder                     // terms along directions of older records
	flagFactor                    // a factor on the server step
)

// recordFlags returns the flags of the fields that r has beyond what a implies.
func recordFlags(a *wire.Announcement, r *wire.Record) (flags byte) {
	round := r.Round
	for i, has := range [...]bool{
		round.StepSize != a.StepSize,
		round.Perturbations != a.Perturbations,
		round.Attempt != 0,
		r.Epoch != a.Epoch,
		int(round.Contributors) != len(round.Terms),
		len(round.Weights) > 0,
		len(current(round.Terms)) < len(round.Terms),
		round.Factor != 0 && round.Factor != 1,
	} {
		if has {
			flags |= 1 << i
		}
	}
	return flags
}

// current returns the terms along the record's own directions. These terms come first in the list.
func current(terms []wire.Term) []wire.Term {
	n := 0
	for n < len(terms) && terms[n].Back == 0 {
		n++
	}
	return terms[:n]
}

// record writes the record of a round, or returns false if the record has no short form.
func (w *writer) record(a *wire.Announcement, r *wire.Record) bool {
	round := r.Round
	own := current(round.Terms)
	if round.Round == 0 || round.Round > r.N || len(own) == 0 ||
		len(round.Weights) > 0 && len(round.Weights) != len(round.Terms) {
		return false
	}
	flags := recordFlags(a, r)
	w.b = append(w.b, flags)
	w.uint(r.N - round.Round)
	for _, v := range []struct {
		flag  byte
		value uint64
	}{
		{flagTries, uint64(round.Attempt)}, {flagEpoch, r.Epoch},
		{flagPerturbations, uint64(round.Perturbations)},
		{flagContributors, uint64(round.Contributors)},
	} {
		if flags&v.flag != 0 {
			w.uint(v.value)
		}
	}
	w.is(&w.parts.Record)
	if flags&flagStep != 0 {
		w.float(round.StepSize)
	}
	if flags&flagFactor != 0 {
		w.float(round.Factor)
	}
	w.is(&w.parts.Steps)
	if !w.terms(own, a.Cohort.Members) {
		return false
	}
	if older := round.Terms[len(own):]; len(older) > 0 && !w.older(older, a.Cohort.Members) {
		return false
	}
	for _, weight := range round.Weights {
		w.uint(uint64(weight))
	}
	w.is(&w.parts.Weights)
	return true
}

// older writes the terms along the directions of older records, grouped by record.
func (w *writer) older(terms []wire.Term, members uint32) bool {
	groups := 1
	for i := range terms[1:] {
		if terms[i].Back != terms[i+1].Back {
			groups++
		}
	}
	w.uint(uint64(groups))
	for len(terms) > 0 {
		n := 1
		for n < len(terms) && terms[n].Back == terms[0].Back {
			n++
		}
		w.uint(terms[0].Back)
		if !w.terms(terms[:n], members) {
			return false
		}
		terms = terms[n:]
	}
	return true
}

// terms writes terms along the directions of one record: the number of terms, their sources, the
// bytes of the scalars of each term, and the scalars.
func (w *writer) terms(terms []wire.Term, members uint32) bool {
	w.uint(uint64(len(terms)))
	sources := make([]uint32, len(terms))
	for i, t := range terms {
		sources[i] = t.Source
		if len(t.Scalars) != len(terms[0].Scalars) || len(t.Scalars) == 0 {
			return false
		}
	}
	w.is(&w.parts.Record)
	var ok bool
	if w.b, ok = appendSet(w.b, sources, members); !ok {
		return false
	}
	w.is(&w.parts.Sources)
	w.uint(uint64(len(terms[0].Scalars)))
	w.is(&w.parts.Record)
	for _, t := range terms {
		w.b = append(w.b, t.Scalars...)
	}
	w.is(&w.parts.Scalars)
	return true
}

// record reads record N-1 of the announcement, without its Prev. The record's scalars alias the
// frame.
func (r *reader) record(a *Announcement) wire.Record {
	round := &wire.Round{StepSize: a.StepSize, Perturbations: a.Perturbations}
	record := wire.Record{N: a.N - 1, Epoch: a.Epoch, Kind: wire.KindRound, Round: round}
	flags := r.byte("flags")
	round.Round = record.N - r.uint("round", record.N-1)
	if flags&flagTries != 0 {
		round.Attempt = uint32(r.positive("attempt", math.MaxUint32))
	}
	if flags&flagEpoch != 0 {
		record.Epoch = r.uint("epoch", math.MaxInt64)
	}
	if flags&flagPerturbations != 0 {
		round.Perturbations = uint32(r.uint("perturbations", math.MaxUint16))
	}
	contributors := uint64(0)
	if flags&flagContributors != 0 {
		contributors = r.uint("contributors", math.MaxUint32)
	}
	if flags&flagStep != 0 {
		round.StepSize = r.float("step")
	}
	if flags&flagFactor != 0 {
		round.Factor = r.float("factor")
	}
	round.Terms = r.terms(nil, 0, a.Cohort.Members)
	if flags&flagOlder != 0 {
		r.older(round, record.N, a.Cohort.Members)
	}
	round.Contributors = uint32(len(round.Terms))
	if flags&flagContributors != 0 {
		round.Contributors = uint32(contributors)
	}
	if flags&flagWeights != 0 {
		r.weights(round)
	}
	return record
}

// older reads the terms along the directions of records before n.
func (r *reader) older(round *wire.Round, n uint64, members uint32) {
	for range r.positive("older terms", wire.MaxTerms) {
		back := r.positive("term back", n-2)
		if last := round.Terms; r.err == nil && last[len(last)-1].Back >= back {
			r.fail("terms", wire.ErrForm)
		}
		if round.Terms = r.terms(round.Terms, back, members); r.err != nil {
			return
		}
	}
}

// terms reads terms along the directions of the record that is back records earlier, and appends
// the terms to the given slice.
func (r *reader) terms(terms []wire.Term, back uint64, members uint32) []wire.Term {
	n := int(r.positive("terms", uint64(wire.MaxTerms-len(terms))))
	if n > len(r.b) { // each has scalars of a byte or more
		r.fail("terms", wire.ErrTruncated)
	}
	if r.err != nil {
		return nil
	}
	set := r.set(n, members)
	size := int(r.positive("term scalars", 4*plan.MaxScalars))
	data := r.take("term scalars", n*size)
	if r.err != nil {
		return nil
	}
	for i, source := range set {
		terms = append(terms, wire.Term{Back: back, Source: source,
			Scalars: data[i*size : (i+1)*size : (i+1)*size]})
	}
	return terms
}

func (r *reader) weights(round *wire.Round) {
	if r.err != nil || len(round.Terms) > len(r.b) {
		r.fail("weights", wire.ErrTruncated)
		return
	}
	round.Weights = make([]uint32, len(round.Terms))
	for i := range round.Weights {
		round.Weights[i] = uint32(r.positive("weights", plan.MaxWeight))
	}
}
