//go:build openblas

package models

/*
#cgo LDFLAGS: -lopenblas
enum { rows = 101, plain = 111, transposed = 112 }; // of cblas.h, which may be elsewhere
extern char *openblas_get_corename(void);
extern void openblas_set_num_threads(int);
extern void cblas_sgemm(int order, int ta, int tb, int m, int n, int k,
	float alpha, const float *a, int lda, const float *b, int ldb,
	float beta, float *c, int ldc);
*/
import "C"

import (
	"sync"

	"gonum.org/v1/gonum/blas"
)

// single makes OpenBLAS compute on the calling thread alone: the callers here have goroutines
// enough.
var single = sync.OnceFunc(func() { C.openblas_set_num_threads(1) })

// BLAS names the matrix multiplication that the models use: "openblas", and the processor for
// which OpenBLAS chose its kernels when the program loaded OpenBLAS. A version of OpenBLAS older
// than the processor may take the processor for a Prescott, and multiply several times slower.
// Then set OPENBLAS_CORETYPE before the program starts: to SkylakeX for a processor with AVX-512,
// to Haswell for a processor with AVX2.
func BLAS() string { return "openblas " + C.GoString(C.openblas_get_corename()) }

// sgemm computes c = op(a) op(b) + beta c, for op(a) of m rows and k columns and
// op(b) of k rows and n columns, all stored by rows.
func sgemm(ta, tb blas.Transpose, m, n, k int, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	single()
	if m == 0 || n == 0 {
		return
	}
	// C reads and writes wherever it is told to, so Go checks the last elements first.
	_, _, _ = a[last(ta, m, k, lda)], b[last(tb, k, n, ldb)], c[(m-1)*ldc+n-1]
	C.cblas_sgemm(C.rows, order(ta), order(tb), C.int(m), C.int(n), C.int(k),
		1, (*C.float)(&a[0]), C.int(lda), (*C.float)(&b[0]), C.int(ldb),
		C.float(beta), (*C.float)(&c[0]), C.int(ldc))
}

// last returns the index of the last element of a matrix of op(rows, cols).
func last(t blas.Transpose, rows, cols, ld int) int {
	if t == blas.Trans {
		rows, cols = cols, rows
	}
	return (rows-1)*ld + cols - 1
}

func order(t blas.Transpose) C.int {
	if t == blas.Trans {
		return C.transposed
	}
	return C.plain
}
