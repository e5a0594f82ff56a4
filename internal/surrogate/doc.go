// Package surrogate has the local numerics of FZooS: a Gaussian process, the gradient of
// its posterior mean in closed form, the uncertainty of that gradient, and the random
// Fourier features by which clients share it.
//
// No replica repeats a client's computations with this package. So the package computes in float64
// with package math, and the last bits of results may differ between architectures.
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
// The prior mean m is the mean of the window's values, or 0 with ZeroMean, as in the paper. Far
// from all points the surrogate is flat. The package normalizes the values only by m. To divide the
// values by their standard deviation or range, and to multiply the answer by it, would change
// nothing: (8) is linear in y, and sigma^2 is in units of the kernel, which is 1 at distance 0. We
// tried these constants for m on the paper's quadratics: the mean, the ends and the middle of the
// range, the latest value, and generalized least squares. Only the mean was among the best with
// both short and long windows.
//
// # Random features
//
// [Features] maps x to phi(x) = sqrt(2/M) cos(V x + b), so that phi(x)^T phi(x') approximates k(x,
// x'). A [Fit] computes equation (3), w = Phi (Phi^T Phi + sigma^2 I)^-1 (y - m).
// [Features.Gradient] computes the gradient of the surrogate from a client's w, or from the mean of
// all clients' w. The paper's Appendix D has the factor 2/sqrt(M) in place of sqrt(2/M), but then
// the kernel would be 2 at distance 0.
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
// Once for every n points, a Process computes the factor of A from scratch, with n^3/6
// multiplications. A Process needs 8 bytes times n^2 + n d of memory for the factor, the matrix A
// and the points, and as much again if Uncertainty is used. A Fit needs 8 bytes times n M + n^2.
package surrogate
