package mathx

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/internal/isa"
	"github.com/zofl/zofl/internal/isa/isatest"
)

// naiveOrthonormalize is the loop in the doc of Orthonormalize, for one element.
func naiveOrthonormalize(columns [][]float32, r []float64, e int) []float32 {
	q, dst := make([]float64, len(columns)), make([]float32, len(columns))
	for j := range columns {
		if r[GramLen(j)+j] == 0 {
			continue
		}
		t := float64(columns[j][e])
		for i := range j {
			p := r[GramLen(j)+i] * q[i]
			t -= float64(p)
		}
		q[j] = t / r[GramLen(j)+j]
		dst[j] = float32(q[j])
	}
	return dst
}

func TestOrthonormalizeMatchesNaive(
	t *testing.T) {
	isatest.Each(t, testOrthonormalizeMatchesNaive)
}

func testOrthonormalizeMatchesNaive(t *testing.T) {
	g := lcg(12)
	for _, c := range []struct{ columns, n int }{
		{0, 0}, {1, 0}, {1, 1}, {2, 31}, {3, 32}, {5, 33}, {9, 1000}, {MaxColumns, 100},
		{MaxColumns, 40},
	} {
		columns := g.columns(c.columns, c.n, 110)
		r := gramOf(columns)
		Cholesky(r, r)
		q := orthonormalized(columns, r)
		intact := make([]func() bool, len(columns))
		want := make([][]float32, len(columns))
		for j := range columns {
			want[j] = make([]float32, c.n)
			columns[j], intact[j] = guarded(columns[j], j&3)
		}
		for e := range c.n {
			for j, v := range naiveOrthonormalize(columns, r, e) {
				want[j][e] = v
			}
		}
		Orthonormalize(columns, columns, r)
		for j := range columns {
			if i := firstDifference(q[j], want[j]); i >= 0 {
				t.Errorf("%d columns of %d: Q[%d][%d] is %v, want %v", c.columns, c.n, i, j,
					q[j][i], want[j][i])
			}
			if firstDifference(columns[j], want[j]) >= 0 || !intact[j]() {
				t.Errorf("%d columns of %d: column %d is not the same in place", c.columns, c.n, j)
			}
		}
	}
}

// The test compares float64 results, because an error of one bit in float64 rarely changes the
// float32.
func TestSubstitute(t *testing.T) { isatest.Each(t, testSubstitute) }

func testSubstitute(t *testing.T) {
	g := lcg(18)
	r := gramOf(g.columns(MaxColumns, MaxColumns, 120))
	var q [MaxColumns][chunk]float64
	for j := range MaxColumns {
		column := r[GramLen(j):GramLen(j+1)]
		widen(&q[j], g.vector(chunk, 120))
		want := q[j]
		for e := range want {
			for i := range j {
				p := column[i] * q[i][e]
				want[e] -= float64(p)
			}
			want[e] /= column[j]
		}
		substitute(&q[j], &q, column)
		if q[j] != want {
			t.Fatalf("column %d is %v, want %v", j, q[j], want)
		}
	}
}

func TestOrthonormalizePanics(t *testing.T) {
	columns := func(n ...int) (c [][]float32) {
		for _, n := range n {
			c = append(c, make([]float32, n))
		}
		return c
	}
	r := make([]float64, 3)
	for _, c := range []struct {
		name         string
		dst, columns [][]float32
		r            []float64
		want         string
	}{
		{"fewer", columns(4), columns(4, 4), r, badLength},
		{"more", columns(4, 4, 4), columns(4, 4), r, badLength},
		{"unequal dst", columns(4, 5), columns(4, 4), r, badLength},
		{"unequal columns", columns(4, 4), columns(4, 3), r, badLength},
		{"shorter", columns(3, 3), columns(4, 4), r, badLength},
		{"triangle", columns(4, 4), columns(4, 4), make([]float64, 4), badLength},
		{"columns", columns(make([]int, 65)...), columns(make([]int, 65)...),
			make([]float64, GramLen(65)), tooManyColumns},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantPanic(t, c.want, func() { Orthonormalize(c.dst, c.columns, c.r) })
		})
	}
}

func TestSubspaceDoesNotAllocate(t *testing.T) { isatest.Each(t, testSubspaceDoesNotAllocate) }

func testSubspaceDoesNotAllocate(t *testing.T) {
	g := lcg(14)
	columns := g.columns(9, 1000, 110)
	r := make([]float64, GramLen(9))
	if got := testing.AllocsPerRun(20, func() {
		Gram(r, columns)
		AddGram(r, r)
		Cholesky(r, r)
		Orthonormalize(columns, columns, r)
		sink += Dot(columns[0], columns[1]) + Norm(columns[2])
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// BenchmarkOrthonormalize reports, at every level, how many products with an element of R
// and divisions by one it makes a second.
func BenchmarkOrthonormalize(b *testing.B) {
	eachCount(b, func(b *testing.B, columns [][]float32) {
		r := gramOf(columns)
		Cholesky(r, r)
		q := orthonormalized(columns, r)
		for b.Loop() {
			Orthonormalize(q, columns, r)
		}
	})
}

// eachCount runs a benchmark on a block, for several numbers of columns.
func eachCount(b *testing.B, run func(b *testing.B, columns [][]float32)) {
	for _, count := range []int{1, 5, 16, MaxColumns} {
		for _, l := range isa.Levels()[:min(2, len(isa.Levels()))] {
			b.Run(fmt.Sprintf("%d/%v", count, l), func(b *testing.B) {
				defer isa.Use(isa.Use(l))
				g := lcg(15)
				run(b, g.columns(count, block, 110))
				products := float64(GramLen(count)) * block * float64(b.N)
				b.ReportMetric(products/b.Elapsed().Seconds()/1e6, "M/s")
			})
		}
	}
}
