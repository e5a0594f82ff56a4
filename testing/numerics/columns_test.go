//go:build !race

package numerics

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/zofl/zofl/mathx"
)

// A matrix is a list of columns, as in a replica.
type matrix [][]float32

// randomMatrix has independent normal elements.
func randomMatrix(seed uint64, rows, columns int) matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	a := make(matrix, columns)
	for j := range a {
		a[j] = make([]float32, rows)
		for i := range a[j] {
			a[j][i] = float32(r.NormFloat64())
		}
	}
	return a
}

// near returns columns each of which is the previous one plus a random vector of that
// relative length, like moves with a slow momentum.
func near(seed uint64, rows, columns int, distance float32) matrix {
	a := randomMatrix(seed, rows, columns)
	for j := 1; j < columns; j++ {
		for i := range a[j] {
			a[j][i] = a[j-1][i] + float32(distance*a[j][i])
		}
	}
	return a
}

// scaled multiplies column j with factor(j).
func scaled(a matrix, factor func(j int) float32) matrix {
	for j := range a {
		mathx.Scale(a[j], factor(j), a[j])
	}
	return a
}

// dense returns the columns in keep for gonum.
func (a matrix) dense(keep []bool) *mat.Dense {
	var kept matrix
	for j := range a {
		if keep[j] {
			kept = append(kept, a[j])
		}
	}
	m := mat.NewDense(len(a[0]), len(kept), nil)
	for j, c := range kept {
		for i, v := range c {
			m.Set(i, j, float64(v))
		}
	}
	return m
}

// A factorization is what a replica computes for a matrix, in blocks of 4096 rows.
type factorization struct {
	gram, r []float64
	q       matrix
	keep    []bool
	rank    int
}

const block = 4096

func factor(a matrix) (f factorization) {
	n := mathx.GramLen(len(a))
	f.gram, f.r = make([]float64, n), make([]float64, n)
	part := make([]float64, n)
	a.blocks(func(at, end int) {
		mathx.Gram(part, a.stretch(at, end))
		mathx.AddGram(f.gram, part)
	})
	f.rank = mathx.Cholesky(f.r, f.gram)
	f.q = make(matrix, len(a))
	f.keep = make([]bool, len(a))
	for j := range a {
		f.q[j] = make([]float32, len(a[j]))
		f.keep[j] = f.r[mathx.GramLen(j)+j] > 0
	}
	a.blocks(func(at, end int) {
		mathx.Orthonormalize(f.q.stretch(at, end), a.stretch(at, end), f.r)
	})
	return f
}

func (a matrix) blocks(body func(at, end int)) {
	for at, n := 0, len(a[0]); at < n; at += block {
		body(at, min(at+block, n))
	}
}

func (a matrix) stretch(at, end int) matrix {
	s := make(matrix, len(a))
	for j := range a {
		s[j] = a[j][at:end]
	}
	return s
}

// orthogonality returns the largest element of |Q^T Q - I|.
func orthogonality(q *mat.Dense) float64 {
	var p mat.Dense
	p.Mul(q.T(), q)
	n, _ := p.Dims()
	worst := 0.0
	for i := range n {
		for j := range n {
			want := 0.0
			if i == j {
				want = 1
			}
			worst = max(worst, math.Abs(p.At(i, j)-want))
		}
	}
	return worst
}

// basis returns gonum's orthonormal basis of the columns of a: the left singular vectors,
// because gonum's QR computes all of the square Q.
func basis(t *testing.T, a *mat.Dense) *mat.Dense {
	t.Helper()
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThinU) {
		t.Fatal("gonum has no singular values")
	}
	var u mat.Dense
	svd.UTo(&u)
	return &u
}

// outside returns the largest length of the part of a column of q outside the span of the
// orthonormal basis.
func outside(basis, q *mat.Dense) float64 {
	var inside, rest mat.Dense
	inside.Mul(basis.T(), q)
	rest.Mul(basis, &inside)
	rest.Sub(q, &rest)
	_, columns := rest.Dims()
	worst := 0.0
	for j := range columns {
		worst = max(worst, mat.Norm(rest.ColView(j), 2))
	}
	return worst
}

func mustHold(t *testing.T, what string, got, most float64) {
	t.Helper()
	t.Logf("%s: %.2g", what, got)
	if !(got <= most) {
		t.Errorf("%s: got %.3g, want at most %.3g", what, got, most)
	}
}
