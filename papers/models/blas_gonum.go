//go:build !openblas

package models

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Gonum multiplies matrices in square blocks, whose side is gonumSide. From gonumBlocks blocks
// on, gonum starts goroutines of its own, which allocate memory. The callers here have goroutines
// enough, so sgemm passes gonum pieces of fewer blocks.
const (
	gonumSide   = 64
	gonumBlocks = 3
)

// BLAS names the matrix multiplication that the models use: "gonum".
func BLAS() string { return "gonum" }

// sgemm computes c = op(a) op(b) + beta c, for op(a) of m rows and k columns and
// op(b) of k rows and n columns, all stored by rows.
func sgemm(ta, tb blas.Transpose, m, n, k int, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	var im gonum.Implementation
	high, wide := gonumBlocks*gonumSide, gonumSide
	if m <= gonumSide {
		high, wide = gonumSide, gonumBlocks*gonumSide
	}
	aStep, bStep := lda, 1 // from a row of op(a) to the next, a column of op(b)
	if ta == blas.Trans {
		aStep = 1
	}
	if tb == blas.Trans {
		bStep = ldb
	}
	for i := 0; i < m; i += high {
		for j := 0; j < n; j += wide {
			im.Sgemm(ta, tb, min(high, m-i), min(wide, n-j), k, 1,
				a[i*aStep:], lda, b[j*bStep:], ldb, beta, c[i*ldc+j:], ldc)
		}
	}
}
