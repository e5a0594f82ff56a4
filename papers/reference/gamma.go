package reference

import "math"

// A Step holds the values on which a correction length of FZooS (5) may depend.
type Step struct {
	T          int       // local step, from 1
	X          []float64 // where the vectors are
	G, C       []float64 // gradient of the local surrogate, and the correction vector
	Trajectory [][]float64
}

// Inverse is the correction length 1/t of appendix G.
func Inverse(s Step) float64 { return 1 / float64(s.T) }

// Always is SCAFFOLD's correction length.
func Always(Step) float64 { return 1 }

// omega is d + 2 (sqrt(d) + 1) ln(1/delta) with delta = 0.1, because the paper gives no value of
// delta.
func omega(d float64) float64 { return d + 2*(math.Sqrt(d)+1)*math.Log(1/0.1) }

// Bound returns the correction length of Corollary 1, for N clients and M features with error 1/M,
//
//	gamma = G / (G + 2 omega kappa rho^((r-1)T) + 2 N epsilon)
//
// where decay is rho^((r-1)T), and kappa = -2 k'(0) is the uncertainty before any loss is known.
// Equation (37) in the proof of the corollary has no kappa.
func Bound(g float64, p Posterior, n, m int, decay float64) func(Step) float64 {
	return func(s Step) float64 {
		uncertain := omega(float64(len(s.X))) * p.slope(0) * decay
		return g / (g + 2*uncertain + 2*float64(n)/float64(m))
	}
}

// Best returns the correction length of Proposition B.1: the gamma for which g + gamma c is
// nearest to the gradient of F,
//
//	gamma = (grad F - g)^T c / |c|^2
//
// and 0 where c is 0. Equation (10) in the paper's proof has |c| in place of |c|^2, which does
// not minimize (9).
func Best(gradient func(x []float64) []float64) func(Step) float64 {
	return func(s Step) float64 {
		square := dot(s.C, s.C)
		if square == 0 {
			return 0
		}
		return dot(along(gradient(s.X), -1, s.G), s.C) / square
	}
}

// Disparity is Xi of section 4 for a correction length: |g + gamma c - grad F|^2.
func (s Step) Disparity(gamma float64, gradient []float64) float64 {
	off := along(along(s.G, gamma, s.C), -1, gradient)
	return dot(off, off)
}

// Theory returns the correction length of Corollary E.1, for G, N clients, and M features with
// error 1/M. Here iota is the mean squared distance to this client's points; the corollary uses
// the points of all clients, which no client knows. Theory uses only the kernel and the noise of
// p: kappa is -2 k'(0), and k'(iota) is the derivative of k with respect to iota.
func Theory(g float64, p Posterior, n, m int) func(Step) float64 {
	return func(s Step) float64 {
		d, iota := float64(len(s.X)), 0.0
		for _, xi := range s.Trajectory {
			away := along(xi, -1, s.X)
			iota += dot(away, away) / float64(len(s.Trajectory))
		}
		slope, w := -p.slope(math.Sqrt(iota))/2, omega(d)
		bound := w*p.slope(0) -
			4*w*iota*slope*slope/(d+p.Noise*d/float64(len(s.Trajectory)))
		return g / (g + 2*(max(bound, 0)+float64(n)/float64(m)))
	}
}
