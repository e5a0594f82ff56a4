// Package surrogate has the local numerics of FZooS: a Gaussian process, the gradient of
// its posterior mean in closed form, the uncertainty of that gradient, and the random
// Fourier features by which clients share it.
//
// A client's results here are its own; no replica repeats them. So they are float64, may
// use package math, and may differ in the last bits between architectures.
//
// # Gaussian process
//
// A [Process] is conditioned on a window of n points x_i with values y_i. With
// kernel k, K its matrix of the points and A = K + sigma^2 I, equation (8) of
// FZooS reads
//
//	gradient     J(x)^T A^-1 (y - m)           J(x) is n*d, row i the gradient of k(x, x_i) over x
//	covariance   c_0 I - J(x)^T A^-1 J(x)   c_0 is 1/l^2
//
// where the prior mean m is the mean of the window's values, and 0 with ZeroMean, as in the
// paper; far from all points the surrogate is flat. Dividing the
// values by their standard deviation or range, and
// multiplying the answer by it, would change nothing: (8) is linear in y, and sigma^2 is
// in units of the kernel, which is 1 at distance 0. So the only normalization is m. Of the
// constants tried for m on the paper's quadratics (the ends and the middle of the range,
// the latest value, generalized least squares) only the mean was among the best with both
// short and long windows.
//
// # Random features
//
// [Features] maps x to phi(x) = sqrt(2/M) cos(V x + b), so that phi(x)^T phi(x') approximates k(x,
// x'). A [Fit] computes equation (3), w = Phi (Phi^T Phi + sigma^2 I)^-1 (y - m).
// [Features.Gradient] computes the gradient of the surrogate from any w: the w of a client, or the
// mean of all. Appendix D of the paper prints 2/sqrt(M), with which the kernel would be 2 at
// distance 0.
//
// # Costs
//
// Multiplications, with n points, d coordinates and M features:
//
//	Process.Add           3 n^2 + n d       5 n^2 if Uncertainty is used
//	Process.Gradient      2 n d             n^2 more after an Add
//	Process.Uncertainty   n^2 + n d         for each candidate
//	Process.Covariance    n^2 d / 2 + n d^2
//	Features.Map          M d
//	Features.Gradient     2 M d
//	Fit.Add               M d
//	Fit.Weights           n M, and n M + 3 n^2 for each point since the last call
//
// Once for every n points, the factor of A is computed from scratch, with n^3/6. Memory is
// 8 bytes times n^2 + n d for the factor, its matrix and the points, as much again for
// Uncertainty, and 8 bytes times n M + n^2 for a Fit.
package surrogate
