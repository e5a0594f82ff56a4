// Package mathx holds the replicated numerics of Zofl: the few float operations that every replica
// of a model must carry out with the same bits, and the exact sum and the median with which a
// coordinator combines replies. The package is for packages that replay or write a log; apps do not
// need it.
//
// # Determinism
//
// Each function documents one order of operations, and each operation rounds once, to nearest even,
// in the precision of its operands. The result is the same on every architecture that Go supports.
// The code converts each product before it adds the product, as in float32(a*x). Without the
// conversion, Go may fuse the multiplication and the addition, and round only once.
//
// On amd64 with AVX2, assembly does the same operations on several elements at a time. The build
// tag purego excludes the assembly.
//
// # Server rules
//
// A server rule applies the mean move delta of a round's clients to the parameters x. The rules,
// and the number of vectors that each keeps beside x:
//
//	plain      0  Axpy(x, alpha, delta)
//	momentum   1  MomentumStep(x, m, beta1, 1, -alpha, delta): m = beta1*m + delta, x += alpha*m
//	sign       0  SignStep(x, alpha, delta)
//	Adam       2  AdamStep(x, m, v, c, delta)
//	Yogi       2  YogiStep(x, m, v, c, delta)
//	AdaGrad    2  AdaGradStep(x, m, v, c, delta)
//	AMSGrad    3  AdaptiveStep(x, m, v, vhat, c, delta)
//
// # History subspace
//
// To compute the orthonormal basis Q of the last moves, call Gram for each block,
// AddGram in ascending order of blocks, Cholesky once, and Orthonormalize for each
// block. Blocks have 4096 elements; any number of goroutines can process them in any
// order.
//
// # Overlap
//
// A function only reads its last vector, and this vector may be one of the vectors that the
// function writes. Other vectors of a call may not overlap unless the function's comment allows it,
// because the result would differ between machines.
package mathx
