// Package layout divides a model into runs of parameters that share factors and bounds, and
// computes its initial parameters.
package layout

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A Span is a run of parameters with the same factors on mu and eta, and the same box. A span
// starts where the previous span ends. Mu includes the width High-Low of the box.
type Span struct {
	End       int
	Mu, Step  float32
	Low, High float32
}

// Spans cover a model without gaps, in order.
type Spans []Span

// Of returns the plan's segments as spans. Neighboring segments with the same factors and box
// become one span.
func Of(p *plan.Plan) Spans {
	var spans Spans
	at := 0
	for i, s := range p.Layout() {
		at += int(s.Len)
		next := Span{End: at, Mu: s.MuScale, Step: s.StepScale}
		if box, ok := p.BoxOf(i); ok {
			next.Low, next.High = box.Low, box.High
			next.Mu = float32(next.Mu * float32(box.High-box.Low))
		}
		if last := len(spans) - 1; last >= 0 && spans[last].joins(next) {
			spans[last].End = at
		} else {
			spans = append(spans, next)
		}
	}
	return spans
}

// joins reports whether next continues s.
func (s Span) joins(next Span) bool {
	next.End = s.End
	return s == next
}

// At returns the index of the span that contains element i.
func (s Spans) At(i int) int {
	at, _ := slices.BinarySearchFunc(s, i+1, func(s Span, end int) int {
		return cmp.Compare(s.End, end)
	})
	return at
}

// Each calls f(lo, hi, span) for each span that overlaps the n elements from at on; lo and hi
// count from at.
func (s Spans) Each(at, n int, f func(lo, hi int, s Span)) {
	for i, lo := s.At(at), 0; lo < n; i++ {
		hi := min(s[i].End-at, n)
		f(lo, hi, s[i])
		lo = hi
	}
}

// Clip moves the elements of dst, which starts at element off of the model, into their boxes. An
// element outside its box gets the nearer bound; NaNs stay.
func (s Spans) Clip(dst []float32, off int) {
	for i := s.At(off); len(dst) > 0; i++ {
		span := &s[i]
		part := dst[:min(len(dst), span.End-off)]
		for j, v := range part {
			part[j] = min(max(v, span.Low), span.High)
		}
		dst, off = dst[len(part):], off+len(part)
	}
}

// Outside returns the first element of x that is not in its box, and the span of that box.
func (s Spans) Outside(x []float32) (at int, span Span, found bool) {
	for _, span := range s {
		for ; at < span.End; at++ {
			if !(x[at] >= span.Low && x[at] <= span.High) {
				return at, span, true
			}
		}
	}
	return 0, Span{}, false
}

// Fill sets x to the initial parameters that the plan's segments seed. key is the key of record 0.
func Fill(x []float32, key prng.Key, segments []plan.Segment) {
	at := 0
	for i := range segments {
		s := &segments[i]
		Seed(x[at:at+int(s.Len)], at, key, s)
		at += int(s.Len)
	}
}

// Seed sets x, which starts at element at of the model, to the initial parameters that the segment
// seeds. Element i of the model is scale times element i of the direction of domain Initial under
// the key of record 0. So the random numbers do not depend on the division into segments.
func Seed(x []float32, at int, key prng.Key, s *plan.Segment) {
	if s.Fill == plan.ZeroFill {
		return
	}
	z := prng.Direction{Key: key, Domain: prng.Initial, Dist: prng.Normal}
	var block [prng.BlockLen]float32
	for len(x) > 0 {
		off := at % prng.BlockLen
		n := min(prng.BlockLen-off, len(x))
		if s.Fill == plan.UniformFill {
			prng.Uniform(block[:off+n], z, uint32(at/prng.BlockLen))
		} else {
			prng.Fill(block[:off+n], z, uint32(at/prng.BlockLen))
		}
		for i := range x[:n] {
			x[i] = s.Scale * block[off+i]
		}
		x, at = x[n:], at+n
	}
}
