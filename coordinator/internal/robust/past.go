package robust

import (
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/median"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A Past is what the records of a log reveal about the lengths of contributions. A Past is a
// function of these records, including undone records: coordinators that have read the same log
// have the same Past, to the last bit.
//
// A record with a term for each contributor shows the length of each contribution. The mean of n
// contributions is as long as one of them if the contributions are alike. If the contributions are
// independent, the mean is shorter by a factor of sqrt(n). So the mean's length times sqrt(n) is at
// least the usual length, unless contributions cancel each other, as they do near the optimum if
// devices' data differ. That is why, for means, the largest value of all rounds counts. With
// classes the mean may be over more contributions, by up to a factor of the number of classes.
type Past struct {
	read      bool // record 1
	steps     int
	parts     uint32         // of a contribution, at most
	precision plan.Precision // of terms
	means     bool           // terms are means
	losses    bool           // scalars are losses of candidates

	last [median.Window]length // of round records, at index rounds mod median.Window
	n    uint64                // round records with a length
	most float64               // largest median so far

	terms    median.Running // of the median lengths of terms, at most as long as what was sent
	steepest float64        // largest median of these so far
}

// A length holds a length and the number of scalars of which it is the length.
type length struct {
	rms     float64
	scalars int
}

// Note notes the next record of a log that begins with first.
func (p *Past) Note(first, record []byte) {
	if !p.read {
		if r, err := wire.DecodeRecord(first); err == nil && r.Kind == wire.KindPlan {
			p.read, p.steps, p.precision = true, int(r.Plan.Steps), r.Plan.TermPrecision()
			p.parts = max(r.Plan.Classes, 1)
			p.means = r.Plan.Transport != plan.Relay || r.Plan.Sharing == plan.GroupDirections
			p.losses = r.Plan.Difference == plan.NoDifference
		}
	}
	r, err := wire.DecodeRecord(record)
	if err != nil || r.Kind != wire.KindRound || !p.read {
		return
	}
	l, term := p.lengthIn(r.Round)
	if !(l.rms > 0) {
		return
	}
	p.terms.Add(term)
	if !p.losses { // what candidates differ by falls by many orders: then room would bound nobody
		p.steepest = max(p.steepest, p.terms.Value())
	}
	p.last[p.n%median.Window] = l
	p.n++
	p.most = max(p.most, p.usual().rms)
}

// lengthIn returns an upper bound of the length of a round's contributions, as the round's record
// shows, and the length of the record's terms. Both are 0 if the record does not show them.
func (p *Past) lengthIn(r *wire.Round) (l length, term float64) {
	var lengths []float64
	steps := p.steps
	if r.Phase == 1 {
		steps = 1
	}
	for i := range r.Terms {
		if t := &r.Terms[i]; t.Back == 0 {
			values := p.precision.Read(t.Scalars, steps, int(r.Perturbations))
			lengths, l.scalars = append(lengths, lengthOf(values)), len(values)
		}
	}
	if len(lengths) == 0 {
		return l, 0
	}
	alike := float64(r.Contributors) * float64(p.parts) / float64(len(lengths))
	term = median.Lower(lengths)
	l.rms = term * math.Sqrt(max(alike, 1))
	return l, term
}

// told returns how long a usual contribution is at most, or 0 if the log does not show that.
func (p *Past) told() float64 {
	told := p.usual().safe()
	if p.means {
		return max(told, p.most)
	}
	return told
}

// usual returns the median of the last rounds' lengths, and the number of scalars in the lengths up
// to the median.
func (p *Past) usual() (l length) {
	known := min(p.n, median.Window)
	if known == 0 {
		return l
	}
	sorted := p.last
	slices.SortFunc(sorted[:known], func(a, b length) int {
		switch {
		case a.rms < b.rms:
			return -1
		case a.rms > b.rms:
			return 1
		}
		return a.scalars - b.scalars
	})
	for _, one := range sorted[:(known+1)/2] {
		l.rms = one.rms
		l.scalars += one.scalars
	}
	return l
}

// margins[n] is how many times the median an honest contribution may be, where n is the number of
// scalars in the lengths up to the median. The value is 0.45 times the n-th root of a million,
// because the chance that n scalars are all below a small share of their usual size is the n-th
// power of the chance for one scalar.
var margins = [...]float64{1: 4.5e5, 450, 45, 14, 7.1, 4.5, 3.2, 2.5, 2.1,
	1.8, 1.6, 1.4, 1.3, 1.2, 1.1, 1.1}

// safe returns the length times the margin for its number of scalars, or 0 if the length is
// unknown.
func (l length) safe() float64 {
	if l.scalars < len(margins) {
		return l.rms * margins[l.scalars]
	}
	return l.rms
}
