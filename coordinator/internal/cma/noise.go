package cma

import (
	"math"

	"github.com/zofl/zofl/coordinator/internal/median"
)

// The rule for noise. Devices evaluate one candidate twice. After a round of C devices, with
// lambda0 the plan's number of candidates:
//
//	e = running mean of (second - first)^2 / (2 C), at the rate max(0.05, 1/rounds)
//	s = 0.8 s + 0.2 (variance of the record's scalars)
//	lambda = 1.1 lambda if s < 4 e, else lambda / sqrt(1.1), within lambda0 .. 64 lambda0
//
// e is the variance that noise leaves in a mean loss, s the variance that noise and the candidates'
// distances leave together.
const (
	grow     = 1.1
	slowest  = 0.05 // rate of e
	sFalls   = 0.8
	drowned  = 4  // s < 4 e: candidates cannot be told apart
	patience = 50 // records so, at the largest lambda, after which the run pauses
)

// A noise is the state of the rule.
type noise struct {
	lambda  float64 // 0: lambda0
	e, s    float64
	rounds  float64 // in which devices sent second losses
	drowned float64 // records in a row in which noise hid all, at the largest lambda
}

// follow takes the scalars of a record and the differences between the losses of a candidate, and
// moves lambda.
func (r *noise) follow(scalars []float32, again []float64, least, most float64) {
	if len(again) == 0 {
		return
	}
	r.rounds++
	r.e += max(slowest, 1/r.rounds) * (errorOf(again) - r.e)
	if s := variance(scalars); r.rounds == 1 {
		r.s = s
	} else {
		r.s = sFalls*r.s + (1-sFalls)*s
	}
	was := within(r.lambda, least, most)
	hidden := r.s < drowned*r.e
	if hidden {
		r.lambda = within(was*grow, least, most)
	} else {
		r.lambda = within(was/math.Sqrt(grow), least, most)
	}
	if r.drowned++; !hidden || was < most {
		r.drowned = 0
	}
}

// exact says whether the first round of the rule showed no noise on any device.
func (r *noise) exact() bool { return r.rounds == 1 && r.e == 0 }

// within returns lambda, at least least and at most most.
func within(lambda, least, most float64) float64 { return min(max(lambda, least), most) }

// errorOf returns the variance that noise leaves in the mean of the devices' losses. Among three
// devices or more one counts for at most 64 usual squares, which normal noise never reaches: a
// device whose losses are random must not drown the others.
func errorOf(again []float64) (e float64) {
	squares := make([]float64, len(again))
	for i, d := range again {
		squares[i] = d * d
	}
	usual := median.Lower(squares)
	for _, v := range squares {
		if len(again) >= 3 {
			v = min(v, 64*usual)
		}
		e += v
	}
	n := float64(len(again))
	return e / (2 * n * n)
}

// variance returns the variance of a record's scalars.
func variance(v []float32) (s float64) {
	mean, n := 0.0, float64(len(v))
	for _, e := range v {
		mean += float64(e) / n
	}
	for _, e := range v {
		s += (float64(e) - mean) * (float64(e) - mean)
	}
	return s / max(n-1, 1)
}
