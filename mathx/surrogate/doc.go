// Package surrogate holds the local numerics of FZooS: a Gaussian process whose
// posterior mean has a gradient in closed form, how sure that gradient is, and
// the random Fourier features by which clients share it.
//
// What a client computes here is its own: no replica repeats it. So it is
// float64, may use the functions of math, and may have other last bits on
// another architecture.
//
// # Gaussian process
//
// A [Process] is conditioned on a window of n points x_i with values y_i. With
// kernel k, K its matrix of the points and A = K + sigma^2 I, equation (8) of
// FZooS reads
//
//	gradient     J(x)^T A^-1 (y - m)           J(x) is n*d, row i the gradient of k(x, x_i) over x
//	covariance   c_0 I - J(x)^T A^-1 J(x)   c_0 is 1/l^2, or 5/(3 l^2)
//
// where m, the prior mean, is the mean of the window's values: far from all
// points the surrogate is flat. Dividing the values by their standard deviation or
// range, and multiplying the answer again, would change nothing, for (8) is linear
// in y and sigma^2 in units of the kernel, which is 1 at distance 0. So all of a
// normalization is in m. Of the constants tried on the paper's quadratics (the
// ends and the middle of the range, the latest value, generalized least squares)
// only the mean was among the best at short and long windows alike.
//
// # Random features
//
// [Features] maps x to phi(x) = sqrt(2/M) cos(V x + b), so that
// phi(x)^T phi(x') is about k(x, x') of [SquaredExponential]. A [Fit] gives
// equation (3), w = Phi (Phi^T Phi + sigma^2 I)^-1 (y - m), and
// [Features.Gradient] the surrogate's gradient from any w: a client's, or the
// mean of all. Appendix D of the paper prints 2/sqrt(M), which would make the
// kernel 2 at distance 0.
//
// # Costs
//
// Multiplications, with n points, d coordinates and M features:
//
//	Process.Add           3 n^2 + n d       5 n^2 where Uncertainty is asked for
//	Process.Gradient      2 n d             n^2 more after an Add
//	Process.Uncertainty   n^2 + n d         for each candidate
//	Process.Covariance    n^2 d / 2 + n d^2
//	Features.Map          M d
//	Features.Gradient     2 M d
//	Fit.Add               M d
//	Fit.Weights           n M, and n M + 3 n^2 for each point since the last
//
// Once in so many points as the window has, the factor of A is made afresh, at
// n^3/6. Memory is 8 bytes times n^2 + n d for the factor, its matrix and the
// points, as much again for Uncertainty, and 8 bytes times n M + n^2 for a Fit.
package surrogate
