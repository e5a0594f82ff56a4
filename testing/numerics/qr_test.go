//go:build !race

package numerics

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/zofl/zofl/mathx"
)

// rounding is what float32 gives for unit columns: 2^-24 per element, 2^-25 per column.
const rounding = 1e-7

// Each case has a limit for the largest element of Q^T Q - I. For the spans of A and Q, and
// for A - QR relative to a column of A, the limit is rounding.
var qrCases = []struct {
	name       string
	a          matrix
	rank       int
	orthogonal float64
}{
	{"one column", randomMatrix(1, 5000, 1), 1, rounding},
	{"five moves", randomMatrix(2, 20000, 5), 5, rounding},
	{"a block and one", randomMatrix(3, 4097, 7), 7, rounding},
	{"few rows", randomMatrix(4, 9, 9), 9, 2 * rounding},
	{"most columns", randomMatrix(5, 5000, 64), 64, rounding},
	{"small elements", scaled(randomMatrix(6, 5000, 5), even(1e-37)), 5, rounding},
	{"large elements", scaled(randomMatrix(7, 5000, 5), even(1e37)), 5, rounding},
	{"lengths down to 2e-5", scaled(randomMatrix(8, 5000, 5), falling), 5, rounding},
	// The remainder of a column of the Gram matrix loses digits by the square of the
	// distance.
	{"near by 1e-2", near(9, 20000, 5, 1e-2), 5, rounding},
	{"near by 1e-3", near(10, 20000, 5, 1e-3), 5, rounding},
	{"near by 1e-4", near(11, 20000, 5, 1e-4), 5, 5e-6},
	{"near by 2e-5", near(12, 20000, 5, 2e-5), 5, 1e-4},
	{"most columns near by 2e-5", near(14, 9000, 64, 2e-5), 64, 1e-3},
	{"nearer than counts", near(13, 20000, 2, 3e-6), 1, rounding},
}

func even(factor float32) func(int) float32 { return func(int) float32 { return factor } }

func falling(j int) float32 { return float32(math.Pow(0.067, float64(j))) }

func TestQR(t *testing.T) {
	for _, c := range qrCases {
		t.Run(c.name, func(t *testing.T) {
			f := factor(c.a)
			if f.rank != c.rank {
				t.Fatalf("got rank %d, want %d", f.rank, c.rank)
			}
			q, a := f.q.dense(f.keep), c.a.dense(f.keep)
			mustHold(t, "Q^T Q - I", orthogonality(q), c.orthogonal)
			span := basis(t, a)
			mustHold(t, "outside of A's span", outside(span, q), rounding)
			mustHold(t, "outside of Q's span", outside(basis(t, q), span), rounding)
			mustHold(t, "A - QR", residual(a, q, f), rounding)
		})
	}
}

// residual returns the largest length of a column of A - QR, relative to that of A.
func residual(a, q *mat.Dense, f factorization) float64 {
	var p mat.Dense
	p.Mul(q, f.upper())
	p.Sub(a, &p)
	_, columns := a.Dims()
	worst := 0.0
	for j := range columns {
		worst = max(worst, mat.Norm(p.ColView(j), 2)/mat.Norm(a.ColView(j), 2))
	}
	return worst
}

// upper returns R of the columns in keep.
func (f factorization) upper() *mat.TriDense {
	var kept []int
	for j, keep := range f.keep {
		if keep {
			kept = append(kept, j)
		}
	}
	r := mat.NewTriDense(len(kept), mat.Upper, nil)
	for j := range kept {
		for i := range j + 1 {
			r.SetTri(i, j, f.r[mathx.GramLen(kept[j])+kept[i]])
		}
	}
	return r
}

// The Gram matrix and R equal gonum's.
func TestGramAndCholesky(t *testing.T) {
	for _, columns := range []int{1, 2, 5, 13, 64} {
		a := randomMatrix(uint64(20+columns), 10000, columns)
		f := factor(a)
		want := gramOf(a)
		var cholesky mat.Cholesky
		if !cholesky.Factorize(want) {
			t.Fatalf("%d columns: gonum has no Cholesky factor", columns)
		}
		var r mat.TriDense
		cholesky.UTo(&r)
		for j := range columns {
			for i := range j + 1 {
				scale := math.Sqrt(want.At(i, i) * want.At(j, j))
				at := mathx.GramLen(j) + i
				if got := f.gram[at]; math.Abs(got-want.At(i, j)) > 1e-13*scale {
					t.Errorf("%d columns: G[%d][%d] is %v, gonum's %v", columns, i, j, got, want.At(i, j))
				}
				if got := f.r[at]; math.Abs(got-r.At(i, j)) > 1e-12*math.Sqrt(want.At(j, j)) {
					t.Errorf("%d columns: R[%d][%d] is %v, gonum's %v", columns, i, j, got, r.At(i, j))
				}
			}
		}
	}
}

func gramOf(a matrix) *mat.SymDense {
	keep := make([]bool, len(a))
	for j := range keep {
		keep[j] = true
	}
	m := a.dense(keep)
	var p mat.Dense
	p.Mul(m.T(), m)
	g := mat.NewSymDense(len(a), nil)
	for i := range a {
		for j := i; j < len(a); j++ {
			g.SetSym(i, j, p.At(i, j))
		}
	}
	return g
}

// Dependent columns are dropped, and the others span the same space: gonum's singular
// values give the same rank.
func TestDependentColumns(t *testing.T) {
	a := randomMatrix(30, 6000, 9)
	copy(a[3], a[1])              // a copy
	clear(a[0])                   // no move
	mathx.Scale(a[5], -0.5, a[2]) // a multiple
	mathx.Sub(a[8], a[4], a[7])   // rounded to float32, so 1e-8 off the span
	f := factor(a)
	if want := []bool{false, true, true, false, true, false, true, true,
		false}; !slices.Equal(f.keep, want) {
		t.Fatalf("kept %v, want %v", f.keep, want)
	}
	all := make([]bool, len(a))
	for j := range all {
		all[j] = true
	}
	var svd mat.SVD
	if !svd.Factorize(a.dense(all), mat.SVDNone) {
		t.Fatal("gonum has no singular values")
	}
	if rank := svd.Rank(1e-5); rank != f.rank {
		t.Errorf("got rank %d, gonum's is %d", f.rank, rank)
	}
	mustHold(t, "outside", outside(basis(t, a.dense(f.keep)), f.q.dense(f.keep)), 2e-7)
	for j, keep := range f.keep {
		if !keep && mathx.Norm(f.q[j]) != 0 {
			t.Errorf("dropped column %d has length %v", j, mathx.Norm(f.q[j]))
		}
	}
}
