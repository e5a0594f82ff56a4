//go:build openblas

package models

/*
#cgo LDFLAGS: -lopenblas
extern char *openblas_get_corename(void);
extern void openblas_set_num_threads(int);
*/
import "C"

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/netlib/blas/netlib"
)

// single makes OpenBLAS leave threads alone: the callers here have goroutines
// enough.
var single = sync.OnceFunc(func() { C.openblas_set_num_threads(1) })

// BLAS names the matrix multiplication that the models use: "openblas", and the
// processor whose kernels OpenBLAS chose when it was loaded. A version older
// than the processor may take it for a Prescott, and then be several times
// slower: set OPENBLAS_CORETYPE, such as to SkylakeX where there is AVX-512 or
// to Haswell where there is AVX2, before the program starts.
func BLAS() string { return "openblas " + C.GoString(C.openblas_get_corename()) }

// sgemm computes c = op(a) op(b) + beta c, for op(a) of m rows and k columns and
// op(b) of k rows and n columns, all stored by rows.
func sgemm(ta, tb blas.Transpose, m, n, k int, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	single()
	var im netlib.Implementation
	im.Sgemm(ta, tb, m, n, k, 1, a, lda, b, ldb, beta, c, ldc)
}
