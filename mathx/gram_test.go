package mathx

import (
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

// columns returns columns of n elements.
func (g *lcg) columns(count, n int, exp uint32) [][]float32 {
	c := make([][]float32, count)
	for j := range c {
		c[j] = g.vector(n, exp)
	}
	return c
}

func gramOf(columns [][]float32) []float64 {
	dst := make([]float64, GramLen(len(columns)))
	Gram(dst, columns)
	return dst
}

func TestGramIsDot(t *testing.T) {
	isatest.Each(t, func(t *testing.T) {
		g := lcg(7)
		for _, c := range []struct{ columns, n int }{
			{0, 0}, {1, 0}, {1, 10}, {2, 4096}, {3, 4097}, {4, 5},
			{5, 9000}, {6, 16385}, {9, 100}, {MaxColumns, 4100},
		} {
			columns := g.columns(c.columns, c.n, 110)
			dst := gramOf(columns)
			for j := range columns {
				for i := range j + 1 {
					want := Dot(columns[i], columns[j])
					if got := dst[GramLen(j)+i]; got != want {
						t.Errorf("%d columns of %d: (%d,%d) is %v, want %v", c.columns, c.n, i, j,
							got, want)
					}
				}
			}
		}
	})
}

// The sum is the same if Gram computes each block separately, the last block first.
func TestAddGram(t *testing.T) { isatest.Each(t, testAddGram) }

func testAddGram(t *testing.T) {
	g := lcg(8)
	columns := g.columns(7, 5*block+77, 110)
	want := gramOf(columns)
	parts := make([][]float64, 6)
	for b := len(parts) - 1; b >= 0; b-- {
		stretch := make([][]float32, len(columns))
		for j, c := range columns {
			stretch[j] = c[b*block : min((b+1)*block, len(c))]
		}
		parts[b] = gramOf(stretch)
	}
	got := make([]float64, len(want))
	for _, p := range parts {
		AddGram(got, p)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// Gram ignores the old content of dst, and writes nothing beyond dst.
func TestGramSetsItsTriangle(t *testing.T) {
	g := lcg(9)
	columns := g.columns(6, 50, 110)
	want := gramOf(columns)
	all := make([]float64, len(want)+2)
	for i := range all {
		all[i] = guard
	}
	Gram(all[1:1+len(want)], columns)
	if all[0] != guard || all[len(all)-1] != guard {
		t.Error("wrote outside the triangle")
	}
	for i := range want {
		if all[1+i] != want[i] {
			t.Errorf("element %d is %v, want %v", i, all[1+i], want[i])
		}
	}
}

func TestGramPanics(t *testing.T) {
	pair := func(a, b int) [][]float32 {
		return [][]float32{make([]float32, a), make([]float32, b)}
	}
	for _, c := range []struct {
		name, want string
		call       func()
	}{
		{"unequal columns", badLength, func() { Gram(make([]float64, 3), pair(4, 5)) }},
		{"short triangle", badLength, func() { Gram(make([]float64, 2), pair(4, 4)) }},
		{"long triangle", badLength, func() { Gram(make([]float64, 4), pair(4, 4)) }},
		{"columns", tooManyColumns, func() {
			Gram(make([]float64, GramLen(MaxColumns+1)), make([][]float32, MaxColumns+1))
		}},
		{"AddGram", badLength, func() { AddGram(make([]float64, 3), make([]float64, 1)) }},
	} {
		t.Run(c.name, func(t *testing.T) { wantPanic(t, c.want, c.call) })
	}
}

// BenchmarkGram reports products a second at every level.
func BenchmarkGram(b *testing.B) {
	eachCount(b, func(b *testing.B, columns [][]float32) {
		dst := make([]float64, GramLen(len(columns)))
		for b.Loop() {
			Gram(dst, columns)
		}
	})
}
