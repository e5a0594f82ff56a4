// Package server applies the server rules in a replay. A server rule computes the new model from a
// round's move.
package server

import (
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
)

// A State holds the vectors of a server rule, or one block of each. A vector that the rule does not
// use is nil.
type State struct {
	Moment, Second, Peak []float32 // m, v, the largest v
}

// New returns the state of the plan's rule before the first round.
func New(p *plan.Plan) State {
	vector := func(wanted bool, v float32) []float32 {
		if !wanted {
			return nil
		}
		list := make([]float32, p.Dim)
		if v != 0 {
			for i := range list {
				list[i] = v
			}
		}
		return list
	}
	n := p.ServerRule.Moments()
	return State{vector(n > 0, 0), vector(n > 1, p.ServerV0), vector(n > 2, p.ServerV0)}
}

// Vectors returns the vectors that the rule uses, in the order of the digest.
func (s *State) Vectors() (list [][]float32) {
	for _, v := range [][]float32{s.Moment, s.Second, s.Peak} {
		if len(v) > 0 {
			list = append(list, v)
		}
	}
	return list
}

// Block returns the block of elements [lo, hi).
func (s *State) Block(lo, hi int) State {
	cut := func(v []float32) []float32 {
		if len(v) == 0 {
			return nil
		}
		return v[lo:hi]
	}
	return State{cut(s.Moment), cut(s.Second), cut(s.Peak)}
}

// Move takes a block of x back to base, where the round began. From there it moves x along the
// round's move x - base as the plan's rule says, with a step of float32(p.ServerStep*factor). Move
// overwrites delta. With a rule in which the server makes no step, Move does not change x.
func (s *State) Move(p *plan.Plan, factor float32, x, base, delta []float32) {
	if !p.ServerRule.Steps() {
		return
	}
	alpha := float32(p.ServerStep * factor)
	mathx.Sub(delta, x, base)
	copy(x, base)
	c := mathx.Adaptive{Alpha: alpha, Beta1: p.ServerBeta1, Beta2: p.ServerBeta2,
		Epsilon: p.ServerEpsilon}
	switch p.ServerRule {
	case plan.ServerSGD:
		mathx.Axpy(x, alpha, delta)
	case plan.ServerMomentum:
		mathx.Momentum(s.Moment, p.ServerBeta1, 1, delta)
		mathx.Axpy(x, alpha, s.Moment)
	case plan.ServerAdam:
		mathx.AdamStep(x, s.Moment, s.Second, c, delta)
	case plan.ServerAMSGrad:
		mathx.AdaptiveStep(x, s.Moment, s.Second, s.Peak, c, delta)
	case plan.ServerYogi:
		mathx.YogiStep(x, s.Moment, s.Second, c, delta)
	case plan.ServerAdaGrad:
		mathx.AdaGradStep(x, s.Moment, s.Second, c, delta)
	case plan.ServerSign:
		mathx.SignStep(x, alpha, delta)
	}
}
