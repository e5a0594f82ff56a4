package ideas

import "math"

// Finish says how the settings of a run change until its end. The zero Finish is that of the
// recipe.
type Finish struct {
	Fall  Fall
	Decay float64 // of x; 0: 0.03
	Late  float64 // momentum of the last third of the budget; 0: 0.9, as before
	// Average is the share of the budget over which the simulation averages x before it measures the
	// model; 0: no average.
	Average float64
}

// A Fall says how the step size falls until the budget ends.
type Fall uint8

const (
	Cosine Fall = iota // to 0.05 of the first step
	ToZero             // the cosine to 0
	Linear             // to 0
	Auto               // as step=auto: 1/sqrt(1 + n/30) in round n, and linear to 0 from the middle on
)

// share returns the ratio of the step size to the first step size, after n rounds and the share
// used of the budget.
func (f Fall) share(used float64, n int) float64 {
	left := 1 - min(used, 1)
	cosine := (1 - math.Cos(math.Pi*left)) / 2
	switch f {
	case ToZero:
		return cosine
	case Linear:
		return left
	case Auto:
		return min(1, 2*left) / math.Sqrt(1+float64(n)/30)
	}
	return floor + (1-floor)*cosine
}

// beta returns the momentum factor: the share of the momentum that a round keeps.
func (t *trial) beta() float64 {
	if t.Finish.Late > 0 && 3*t.used >= 2*t.Budget {
		return t.Finish.Late
	}
	return beta1
}

// decay returns the share of x that a step of length 1 removes.
func (t *trial) decay() float64 {
	if t.Finish.Decay > 0 {
		return t.Finish.Decay
	}
	if t.Other.shares() {
		return 0
	}
	return decay
}

// average updates the running mean of x. part is the share of the budget used so far.
func (t *trial) average(part float64) {
	if t.Finish.Average == 0 {
		return
	}
	if t.mean == nil {
		t.mean = append(t.mean, t.x...)
	}
	w := float32(min(1, part/t.Finish.Average))
	for i, v := range t.x {
		t.mean[i] += w * (v - t.mean[i])
	}
}

// model returns the parameters that the simulation measures.
func (t *trial) model() []float32 {
	if t.mean != nil {
		return t.mean
	}
	return t.x
}
