package mathx

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

// naiveCholesky is Cholesky by another algorithm: it subtracts each kept row's products from all
// remaining elements. For each element, the order of operations is the same as in Cholesky.
func naiveCholesky(gram []float64, n int) (r []float64, rank int) {
	var g [MaxColumns][MaxColumns]float64
	largest := 0.0
	for j := range n {
		for i := range j + 1 {
			g[i][j] = gram[GramLen(j)+i]
			if math.IsNaN(g[i][j]) || math.IsInf(g[i][j], 0) {
				return make([]float64, len(gram)), 0
			}
		}
		largest = max(largest, g[j][j])
	}
	for k := range n {
		if math.IsNaN(g[k][k]) || g[k][k] <= 1e-10*largest {
			for i := range n {
				g[i][k], g[k][i] = 0, 0
			}
			continue
		}
		rank++
		g[k][k] = math.Sqrt(g[k][k])
		for j := k + 1; j < n; j++ {
			g[k][j] /= g[k][k]
		}
		for j := k + 1; j < n; j++ {
			for i := k + 1; i <= j; i++ {
				g[i][j] -= float64(g[k][i] * g[k][j])
			}
		}
	}
	r = make([]float64, len(gram))
	for j := range n {
		for i := range j + 1 {
			r[GramLen(j)+i] = g[i][j]
		}
	}
	return r, rank
}

// checkCholesky compares Cholesky with naiveCholesky, checks the properties that Cholesky's doc
// promises, and returns the result.
func checkCholesky(t *testing.T, gram []float64, n int) (r []float64, rank int) {
	t.Helper()
	r = make([]float64, len(gram))
	rank = Cholesky(r, gram)
	want, wantRank := naiveCholesky(gram, n)
	if rank != wantRank {
		t.Fatalf("got rank %d, want %d", rank, wantRank)
	}
	kept := 0
	for j := range n {
		diagonal := r[GramLen(j)+j]
		if diagonal > 0 {
			kept++
		}
		for i := range j + 1 {
			v := r[GramLen(j)+i]
			switch {
			case v != want[GramLen(j)+i]:
				t.Fatalf("R[%d][%d] is %v, want %v", i, j, v, want[GramLen(j)+i])
			case v-v != 0:
				t.Fatalf("R[%d][%d] is %v", i, j, v)
			case v != 0 && (diagonal == 0 || r[GramLen(i)+i] == 0):
				t.Fatalf("R[%d][%d] is %v, but one of the columns is dropped", i, j, v)
			}
		}
	}
	if kept != rank {
		t.Fatalf("got rank %d and %d kept columns", rank, kept)
	}
	return r, rank
}

func TestCholeskyMatchesNaive(t *testing.T) {
	g := lcg(11)
	for _, n := range []int{0, 1, 2, 3, 5, 17, MaxColumns} {
		gram := gramOf(g.columns(n, 100, 110))
		r, rank := checkCholesky(t, gram, n)
		if rank != n {
			t.Errorf("%d random columns have rank %d", n, rank)
		}
		inPlace := append([]float64(nil), gram...)
		if got := Cholesky(inPlace, inPlace); got != rank {
			t.Errorf("%d columns: got rank %d in place, want %d", n, got, rank)
		}
		for i := range r {
			if inPlace[i] != r[i] {
				t.Fatalf("%d columns: element %d is %v in place, want %v", n, i, inPlace[i], r[i])
			}
		}
	}
}

// Each case has columns, and says which of the columns Cholesky keeps.
var dropCases = []struct {
	name    string
	columns [][]float32
	kept    string // a 1 for each kept column, else a 0
}{
	{"one", [][]float32{{3, 4}}, "1"},
	{"zero", [][]float32{{0, 0}}, "0"},
	{"zeros", [][]float32{{0, 0}, {0, 0}}, "00"},
	{"zero among others", [][]float32{{1, 2}, {0, 0}, {2, 1}}, "101"},
	{"equal", [][]float32{{1, 2, 3}, {1, 2, 3}, {0, 1, 0}}, "101"},
	{"opposite", [][]float32{{1, 2, 3}, {-2, -4, -6}, {0, 1, 0}}, "101"},
	{"sum of two", [][]float32{{1, 0, 2}, {0, 3, 1}, {1, 3, 3}}, "110"},
	{"more than elements", [][]float32{{1, 2}, {3, 4}, {5, 6}, {7, 9}}, "1100"},
	// The pivot is the square of a float32 just below or just above 1e-5.
	{"short", [][]float32{{1, 0}, {0, 1e-5}}, "10"},
	{"less short", [][]float32{{1, 0}, {0, math.Nextafter32(1e-5, 1)}}, "11"},
	{"short as the longest", [][]float32{{4, 0}, {0, 4e-5}, {1, 1}}, "101"},
	// The limit depends on the largest element of the Gram matrix, not on the pivots so far.
	{"short before long", [][]float32{{0, 0x1p-17}, {1, 0}}, "01"},
	{"near", [][]float32{{1, 0}, {1, 0x1p-17}}, "10"},
	{"less near", [][]float32{{1, 0}, {1, 0x1p-16}}, "11"},
	{"subnormal", [][]float32{{0x1p-149, 0}, {0, -0x1p-149}}, "11"},
	{"huge", [][]float32{{math.MaxFloat32, 0}, {math.MaxFloat32, math.MaxFloat32}}, "11"},
	{"NaN", [][]float32{{1, 0}, {0, float32(math.NaN())}}, "00"},
	{"infinity", [][]float32{{1, 0}, {0, 1}, {float32(math.Inf(-1)), 0}}, "000"},
}

func TestCholeskyDrops(t *testing.T) { isatest.Each(t, testCholeskyDrops) }

func testCholeskyDrops(t *testing.T) {
	for _, c := range dropCases {
		t.Run(c.name, func(t *testing.T) {
			r, _ := checkCholesky(t, gramOf(c.columns), len(c.columns))
			got := ""
			for j := range c.columns {
				if r[GramLen(j)+j] == 0 {
					got += "0"
				} else {
					got += "1"
				}
			}
			if got != c.kept {
				t.Fatalf("kept %s, want %s", got, c.kept)
			}
			checkBasis(t, c.columns, r)
		})
	}
}

// checkBasis checks that the dropped columns of Q are zeros and the other columns orthonormal.
func checkBasis(t *testing.T, columns [][]float32, r []float64) {
	t.Helper()
	q := orthonormalized(columns, r)
	for j := range q {
		for i := range j + 1 {
			want := 0.0
			if i == j && r[GramLen(j)+j] != 0 {
				want = 1
			}
			got := Dot(q[i], q[j])
			if !(math.Abs(got-want) <= 1e-5) {
				t.Errorf("columns %d and %d of Q have the product %v, want %v", i, j, got, want)
			}
		}
	}
}

func orthonormalized(columns [][]float32, r []float64) [][]float32 {
	q := make([][]float32, len(columns))
	for j, c := range columns {
		q[j] = make([]float32, len(c))
	}
	Orthonormalize(q, columns, r)
	return q
}

func TestCholeskyPanics(t *testing.T) {
	for _, c := range []struct {
		r, gram int
		want    string
	}{
		{3, 1, badLength}, {1, 3, badLength}, {2, 2, badLength},
		{GramLen(64) - 1, GramLen(64) - 1, badLength},
		{GramLen(65), GramLen(65), tooManyColumns},
		{GramLen(64) + 1, GramLen(64) + 1, tooManyColumns},
	} {
		t.Run(fmt.Sprint(c.r, " ", c.gram), func(t *testing.T) {
			wantPanic(t, c.want, func() { Cholesky(make([]float64, c.r), make([]float64, c.gram)) })
		})
	}
}

// Cholesky gives a finite R for any numbers, even if they are no Gram matrix.
func FuzzCholesky(f *testing.F) {
	g := lcg(13)
	for _, n := range []int{1, 2, 3, 5} {
		f.Add(bytesOf64(gramOf(g.columns(n, 3, 110))...))
	}
	f.Add(make([]byte, 8*6))
	for _, v := range []float64{math.NaN(), math.Inf(1), -1, 1e308, 5e-324} {
		f.Add(bytesOf64(1, v, v, 1e308, 1, v))
		f.Add(bytesOf64(1, v, 1)) // beside the diagonal alone
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		for n < MaxColumns && 8*GramLen(n+1) <= len(b) {
			n++
		}
		gram := make([]float64, GramLen(n))
		for i := range gram {
			gram[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		checkCholesky(t, gram, n)
	})
}

func BenchmarkCholesky(b *testing.B) {
	for _, count := range []int{5, 16, MaxColumns} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			g := lcg(16)
			gram := gramOf(g.columns(count, 200, 110))
			r := make([]float64, len(gram))
			for b.Loop() {
				sink += float64(Cholesky(r, gram))
			}
		})
	}
}
