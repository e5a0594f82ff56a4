// Package mathx holds the replicated numerics of Zofl: the few float
// operations that every replica of a model must carry out with the same bits,
// and the exact sum and the median by which a coordinator combines replies. It is for the
// packages that replay a log and for those that write one; apps need nothing
// of it.
//
// # Determinism
//
// Each function states one order of operations, and each operation rounds
// once, to nearest even, in the precision of its operands. The result is the
// same on every architecture that Go supports. A product is converted before
// it is added, float32(a*x), because Go may otherwise fuse the two and round
// only once where the hardware has such an instruction.
//
// On amd64 with AVX2 assembly does the same operations on several elements at a
// time; the build tag purego leaves it out.
//
// # Server rules
//
// A rule is how the mean move delta of a round's clients changes the parameters
// x and what else of the state it keeps, so many vectors like x:
//
//	plain      0  Axpy(x, alpha, delta)
//	momentum   1  MomentumStep(x, m, beta1, 1, -alpha, delta): m = beta1*m + delta, x += alpha*m
//	sign       0  SignStep(x, alpha, delta)
//	Adam       2  AdamStep(x, m, v, c, delta)
//	Yogi       2  YogiStep(x, m, v, c, delta)
//	AMSGrad    3  AdaptiveStep(x, m, v, vhat, c, delta)
//
// # History subspace
//
// The orthonormal basis Q of the last moves is Gram block by block, AddGram in
// ascending order, Cholesky once, and Orthonormalize block by block. Blocks are
// of 4096 elements and can be worked on in any order and by any number of
// goroutines.
//
// # Overlap
//
// The last vector of a call is only read, and may be one of the vectors that
// the call writes. No two vectors may overlap otherwise, unless a function says
// so: what that gives depends on the machine.
package mathx
