package replica

import (
	"cmp"
	"math"
	"slices"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// maxDim keeps 4*d within an int, on 32-bit devices too.
const maxDim = math.MaxInt / 8

// A span is a run of parameters that have the same factors on mu and eta and the same box.
// It starts where the previous span ends. Mu is in the coordinates of the box.
type span struct {
	end       int
	mu, step  float32
	low, high float32
}

// layout returns the plan's segments as spans. Neighbors that do not differ become one
// span.
func layout(p *wire.Plan) []span {
	var spans []span
	at := 0
	for i, s := range p.Layout() {
		at += int(s.Len)
		next := span{end: at, mu: s.MuScale, step: s.StepScale}
		if box, ok := p.BoxOf(i); ok {
			next.low, next.high = box.Low, box.High
			next.mu = float32(next.mu * float32(box.High-box.Low))
		}
		if last := len(spans) - 1; last >= 0 && spans[last].joins(next) {
			spans[last].end = at
		} else {
			spans = append(spans, next)
		}
	}
	return spans
}

// joins reports whether next continues s.
func (s span) joins(next span) bool {
	next.end = s.end
	return s == next
}

// spanAt returns the index of the span that contains element i.
func (r *Replica) spanAt(i int) int { return spanOf(r.segments, i) }

func spanOf(spans []span, i int) int {
	at, _ := slices.BinarySearchFunc(spans, i+1, func(s span, end int) int {
		return cmp.Compare(s.end, end)
	})
	return at
}

// initial returns the parameters of record 1, inside their boxes: a copy of the given ones,
// or those that the plan's segments seed.
func initial(p *wire.Plan, runKey []byte, given []float32) ([]float32, error) {
	x := make([]float32, p.Dim)
	if p.Initial == wire.Given {
		if err := checkGiven(p, given); err != nil {
			return nil, err
		}
		copy(x, given)
		return x, box(p, x)
	}
	at, key := 0, prng.RecordKey(runKey, 0)
	for _, s := range p.Layout() {
		seed(x[at:at+int(s.Len)], at, key, &s)
		at += int(s.Len)
	}
	return x, box(p, x)
}

// seed fills a segment that starts at element at of the model. Element i of the model is
// scale times element i of the direction of domain Initial under the key of record 0,
// independent of how the model is divided into segments.
func seed(x []float32, at int, key prng.Key, s *wire.Segment) {
	if s.Fill == wire.ZeroFill {
		return
	}
	z := prng.Direction{Key: key, Domain: prng.Initial, Dist: prng.Normal}
	var block [prng.BlockLen]float32
	for len(x) > 0 {
		off := at % prng.BlockLen
		n := min(prng.BlockLen-off, len(x))
		if s.Fill == wire.UniformFill {
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
