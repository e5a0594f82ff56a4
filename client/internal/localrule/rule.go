// Package localrule has the plan's rule for the local steps of a device that sends a vector: where
// one step leads, and in which boxes the iterate stays. The package does not know the loss: package
// probe estimates gradients, and makes one step after the other. Other devices do not repeat these
// steps.
package localrule

import (
	"math"

	"github.com/zofl/zofl/plan"
)

// A Rule is the plan's rule for local steps with transport=dense. Each device resets its rule in
// each round. Products are in float64.
type Rule[T float32 | float64] struct {
	first, second []T // moments, if the rule has them
	steps         int // made so far in this round
}

// Begin readies the rule for a round of d parameters.
func (r *Rule[T]) Begin(rule plan.Rule, d int) {
	r.steps = 0
	if rule != plan.SGD && rule != plan.LocalSign {
		r.first = cleared(r.first, d)
	}
	if rule == plan.LocalAdam {
		r.second = cleared(r.second, d)
	}
}

// cleared returns a slice of n zeros, in the memory of v if that suffices.
func cleared[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	clear(v[:n])
	return v[:n]
}

// Move makes a local step from x against the gradient v, and clips x to the boxes. Move overwrites
// v with the rule's direction. x is in the units of sides, and v is per unit.
//
//	x[i] -= unit * step * eta * rule(v)[i]
func (r *Rule[T]) Move(x, v []T, p *plan.Plan, eta float32, sides []Side) {
	r.turn(v, p)
	at := 0
	for _, s := range sides {
		a := s.Unit * s.Step * float64(eta)
		for ; at < s.End; at++ {
			x[at] = T(min(max(float64(x[at])-a*float64(v[at]), s.Low), s.High))
		}
	}
}

// turn replaces the gradient v with the rule's direction.
//
//	momentum        m = b m + (1-b) v                     m
//	torch-momentum  m = b m + v                           m
//	adam            m = b m + (1-b) v, s = b2 s + (1-b2) v^2
//	                m/(1-b^t) / (sqrt(s/(1-b2^t)) + epsilon)
//	sign            1, 0 or -1, as v is
func (r *Rule[T]) turn(v []T, p *plan.Plan) {
	beta, beta2 := float64(p.Beta), float64(p.Beta2)
	gain := 1 - beta
	r.steps++
	switch p.Rule {
	case plan.Momentum, plan.TorchMomentum:
		if p.Rule == plan.TorchMomentum {
			gain = 1
		}
		for i, g := range v {
			r.first[i] = T(beta*float64(r.first[i]) + gain*float64(g))
			v[i] = r.first[i]
		}
	case plan.LocalSign:
		for i, g := range v {
			v[i] = sign(g)
		}
	case plan.LocalAdam:
		part := 1 / (1 - math.Pow(beta, float64(r.steps)))
		part2 := 1 / (1 - math.Pow(beta2, float64(r.steps)))
		for i, g := range v {
			m := beta*float64(r.first[i]) + gain*float64(g)
			s := beta2*float64(r.second[i]) + (1-beta2)*float64(g)*float64(g)
			r.first[i], r.second[i] = T(m), T(s)
			v[i] = T(m * part / (math.Sqrt(s*part2) + float64(p.Epsilon)))
		}
	}
}

// sign returns 1, 0 or -1.
func sign[T float32 | float64](v T) T {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// Pull adds FedProx's proximal term towards base and the weight decay to the gradient v at x.
//
//	v[i] += prox (x[i] - base[i])/unit + decay (x[i] - zero)/unit
func Pull[T float32 | float64](v, x, base []T, p *plan.Plan, sides []Side) {
	prox, decay := float64(p.Prox), float64(p.WeightDecay)
	if prox == 0 && decay == 0 {
		return
	}
	at := 0
	for _, s := range sides {
		for ; at < s.End; at++ {
			here := float64(x[at])
			v[at] += T((prox*(here-float64(base[at])) + decay*(here-s.Zero)) / s.Unit)
		}
	}
}
