package evolution

import (
	"math"

	"github.com/zofl/zofl/client/replica/internal/layout"
	"github.com/zofl/zofl/internal/parallel"
)

// place sets dst to x + sigma y, within the boxes. sigma counts in the scales of the segments and
// the sides of the boxes.
func (s *State) place(dst []float32, y []float64) {
	s.spans.Each(0, len(dst), func(lo, hi int, span layout.Span) {
		sigma := float64(s.Sigma * float64(span.Step))
		if s.unfolded == nil {
			for i := lo; i < hi; i++ {
				dst[i] = float32(float64(s.x[i]) + float64(sigma*y[i]))
			}
			return
		}
		for i := lo; i < hi; i++ {
			dst[i] = inside(&span, float64(s.unfolded[i])+float64(sigma*y[i]))
		}
	})
}

// fold moves x by sigma yw, with boxes.
func (s *State) fold() {
	s.spans.Each(0, len(s.x), func(lo, hi int, span layout.Span) {
		sigma := float64(s.Sigma * float64(span.Step))
		for i := lo; i < hi; i++ {
			s.unfolded[i] = float32(float64(s.unfolded[i]) + float64(sigma*s.yw[i]))
			s.x[i] = inside(&span, float64(s.unfolded[i]))
		}
	})
}

// unfold sets unfolded to the point that folds to x.
func (s *State) unfold() {
	s.spans.Each(0, len(s.x), func(lo, hi int, span layout.Span) {
		low, side := float64(span.Low), float64(span.High)-float64(span.Low)
		for i := lo; i < hi; i++ {
			s.unfolded[i] = float32(unfolded((float64(s.x[i]) - low) / side))
		}
	})
}

// Within margin of an end, a box is folded along a parabola, so that equal steps beyond the middle
// of the margin come back. It is the transformation of pycma.
const (
	margin = 0.05
	period = 1 + 2*margin
)

// inside returns the parameter at v, in the coordinates of a box.
func inside(box *layout.Span, v float64) float32 {
	low, side := float64(box.Low), float64(box.High)-float64(box.Low)
	x := float32(low + float64(side*folded(v)))
	return min(max(x, box.Low), box.High)
}

// folded returns the point of [0, 1] to which v folds.
func folded(v float64) float64 {
	s := v + margin
	s -= float64(2 * period * math.Floor(s/(2*period)))
	if s > period {
		s = 2*period - s
	}
	s -= margin
	switch {
	case s < margin:
		return float64((s+margin)*(s+margin)) / (4 * margin)
	case s > 1-margin:
		return 1 - float64((1+margin-s)*(1+margin-s))/(4*margin)
	}
	return s
}

// unfolded returns the point of [-margin, 1+margin] that folds to u.
func unfolded(u float64) float64 {
	switch {
	case u < margin:
		return math.Sqrt(float64(4*margin*u)) - margin
	case u > 1-margin:
		return 1 + margin - math.Sqrt(float64(4*margin*(1-u)))
	}
	return u
}

// leastWork is the number of products from which sharing them among workers saves time.
const leastWork = 1 << 18

// teamFor returns the team for the work of n candidates, or nil if it is too little to share.
func (s *State) teamFor(n int) *parallel.Team {
	if uint64(len(s.x))*uint64(len(s.x))*uint64(n) < leastWork {
		return nil
	}
	return s.team
}
