package reference

import "math"

// A Server is the rule of a global step. A global step takes delta, the mean change of the local
// models of a round's clients.
type Server struct {
	Rule                         Rule
	Alpha, Beta1, Beta2, Epsilon float64
	Decay                        float64 // NormalizedRule
	V0                           float64 // initial v and vhat
}

// Rule is a kind of global step.
type Rule int

const (
	Mean     Rule = iota // x + delta
	SGD                  // x + alpha delta
	Momentum             // FedAvgM: m = beta1 m + delta, x + alpha m
	Adam                 // ZO-AdaFL (2)-(4)
	AMSGrad              // ZO-AdaFL, Algorithm 1
	Yogi                 // Adam with v - (1-beta2) delta^2 sign(v - delta^2): FedYogi
	Sign                 // x + alpha sign(delta)

	NormalizedRule Rule = 8  // [Normalized], of no delta
	AdaGrad        Rule = 10 // Adam with v + delta^2: FedAdagrad
	EvolutionRule  Rule = 11 // [Evolution], of no delta
)

// Times returns the rule with alpha multiplied by factor.
func (r Server) Times(factor float64) *Server {
	r.Alpha *= factor
	return &r
}

// Step returns x after a global step, computed element by element, and updates the moments s.
func (r *Server) Step(x []float64, s Moments, delta []float64) []float64 {
	out := clone(x)
	for i, d := range delta {
		switch r.Rule {
		case Mean:
			out[i] += d
		case SGD:
			out[i] += r.Alpha * d
		case Momentum:
			s.M[i] = r.Beta1*s.M[i] + d
			out[i] += r.Alpha * s.M[i]
		case Sign:
			out[i] += r.Alpha * sign(d)
		default:
			out[i] += r.adaptive(s, i, d)
		}
	}
	return out
}

// adaptive returns the step of element i for a rule with a second moment.
func (r *Server) adaptive(s Moments, i int, d float64) float64 {
	s.M[i] = r.Beta1*s.M[i] + (1-r.Beta1)*d
	switch r.Rule {
	case Yogi:
		s.V[i] -= (1 - r.Beta2) * d * d * sign(s.V[i]-d*d)
	case AdaGrad:
		s.V[i] += d * d
	default:
		s.V[i] = r.Beta2*s.V[i] + (1-r.Beta2)*d*d
	}
	s.VHat[i] = max(s.VHat[i], s.V[i])
	v := s.V[i]
	if r.Rule == AMSGrad {
		v = s.VHat[i]
	}
	return r.Alpha * s.M[i] / math.Sqrt(v+r.Epsilon)
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
