package reference

import "math"

// ZOAdaFL is Algorithm 1 of ZO-AdaFL. The clients make the local steps of [FedZO] along the unit
// vectors u_{t,k} that Direction returns: own vectors for each client, or the same for all
// clients, because (5) has no client index. Then the server makes a global step of AMSGrad on the
// mean change of the local models. In the paper, v_0 is 0 in line 1, and v_0 = vhat_0 = 1e-5 in
// section 5.2.
type ZOAdaFL struct {
	FedZO
	Alpha, Beta1, Beta2, Epsilon float64
}

// Moments are the first and second moments of the global steps.
type Moments struct{ M, V, VHat []float64 }

// NewMoments is line 1 of Algorithm 1: it returns the initial moments.
func NewMoments(dim int, v0 float64) Moments {
	s := Moments{make([]float64, dim), make([]float64, dim), make([]float64, dim)}
	for i := range s.V {
		s.V[i], s.VHat[i] = v0, v0
	}
	return s
}

// Round is lines 3-16 of Algorithm 1: it returns x_{t+1} and updates s.
func (a *ZOAdaFL) Round(x []float64, s Moments, n uint64, sampled []int) []float64 {
	var moves [][]float64
	for _, client := range sampled { // lines 6-12
		moves = append(moves, along(a.LocalUpdate(x, client, n), -1, x))
	}
	delta := mean(moves...) // line 13
	next := clone(x)
	for i, d := range delta {
		s.M[i] = a.Beta1*s.M[i] + (1-a.Beta1)*d
		s.V[i] = a.Beta2*s.V[i] + (1-a.Beta2)*d*d
		s.VHat[i] = max(s.VHat[i], s.V[i])
		next[i] += a.Alpha * s.M[i] / math.Sqrt(s.VHat[i]+a.Epsilon)
	}
	return next
}
