package evolution

import (
	"cmp"
	"math"
	"slices"
)

// rates are the weights and rates of a record with lambda losses.
type rates struct {
	lambda, better                 int       // better: how many candidates have positive weights
	w                              []float64 // by rank
	sum                            float64   // of w
	mass, c1, cw, cs, damp, length float64   // length: of a normal vector
	harmonic                       []float64
}

// set sets the rates for lambda candidates of d elements. The weights are those of Hansen, The CMA
// Evolution Strategy: a Tutorial, with sums of 1/(j + 1/2) in place of logarithms.
func (s *rates) set(lambda, d int, limited bool) {
	if s.lambda == lambda {
		return
	}
	s.lambda, s.better = lambda, lambda/2
	positive, squares, negative, negSquares := s.rawWeights()
	dim := float64(d)
	s.mass = float64(positive*positive) / squares
	s.c1 = 2 / (float64((dim+1.3)*(dim+1.3)) + s.mass)
	s.cw = min(1-s.c1,
		float64(2*(s.mass-2+1/s.mass))/(float64((dim+2)*(dim+2))+s.mass))
	a := min(1+s.c1/s.cw, 1+float64(2*(float64(negative*negative)/negSquares))/(s.mass+2),
		(1-s.c1-s.cw)/float64(dim*s.cw))
	s.sum = 0
	for i := range s.w {
		if i < s.better {
			s.w[i] /= positive
		} else {
			s.w[i] = float64(a*s.w[i]) / -negative
		}
		s.sum += s.w[i]
	}
	s.cs = (s.mass + 2) / (s.mass + dim + 5)
	s.damp = 1 + s.cs + float64(2*max(0, math.Sqrt((s.mass-1)/(dim+1))-1))
	if limited {
		s.cs = min(1, float64(2*lambda)/dim)
	}
	s.length = float64(math.Sqrt(dim) * (1 - 1/float64(4*dim) + 1/float64(21*float64(dim*dim))))
}

// rawWeights sets the weights before they are scaled, and returns the sum and the sum of squares of
// those of the better half, and of the others.
func (s *rates) rawWeights() (positive, squares, negative, negSquares float64) {
	s.w = slices.Grow(s.w[:0], s.lambda)[:s.lambda]
	s.harmonic = slices.Grow(s.harmonic[:0], s.lambda+1)[:s.lambda+1]
	h := s.harmonic
	h[0] = 0
	for j := 1; j <= s.lambda; j++ {
		h[j] = h[j-1] + 1/(float64(j)+0.5)
	}
	half := h[s.better]
	if s.lambda%2 == 0 {
		half = 0.5 * (h[s.better] + h[s.better-1])
	}
	for i := range s.w {
		w := half - h[i]
		if i < s.better {
			positive += w
			squares += float64(w * w)
		} else {
			w = min(w, 0)
			negative += w
			negSquares += float64(w * w)
		}
		s.w[i] = w
	}
	return positive, squares, negative, negSquares
}

// gain returns the factor of a record's mean in a running mean that keeps 1 - rate.
func (s *rates) gain(rate float64) float64 {
	return math.Sqrt(float64(float64(s.mass*rate) * (2 - rate)))
}

// rank sets order to the candidates by their losses, those with equal losses by number. A NaN
// counts as an infinite loss.
func (s *State) rank(losses []float32) {
	s.order = slices.Grow(s.order[:0], len(losses))[:len(losses)]
	for k := range s.order {
		s.order[k] = k
	}
	slices.SortStableFunc(s.order, func(a, b int) int {
		return cmp.Compare(rankable(losses[a]), rankable(losses[b]))
	})
}

func rankable(loss float32) float64 {
	if loss != loss {
		return math.Inf(1)
	}
	return float64(loss)
}

// grow multiplies sigma by about e^u, at most by e and at least by 1/e. Its X has only exact
// operations, and is 1.5e-3 off at the ends.
func (s *State) grow(u float64) {
	u = min(1, max(-1, u))
	a, half := 1+float64(u*u)/12, float64(u/2)
	s.Sigma = float64(s.Sigma * ((a + half) / (a - half)))
}
