package prng

import (
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

// TestOffsets runs every operation on vectors that start at any element of a vector register,
// with every length up to more than a chunk, and across the borders of blocks.
func TestOffsets(t *testing.T) { isatest.Each(t, testOffsets) }

func testOffsets(t *testing.T) {
	const block, a = 5, float32(-0.25)
	list := terms("rrrrrrrrnr")
	for name, dist := range distributions {
		t.Run(name, func(t *testing.T) {
			z := testDirection
			z.Dist = dist
			all := refFill(z, block, longest)
			var each [][]float32
			for _, term := range list {
				each = append(each, refFill(term.Z, block, longest))
			}
			sum := refSum(ramp(longest), list, each)
			for offset := range 4 {
				for _, n := range lengths() {
					o := newOffset(t, n, offset)
					Fill(o.dst(), z, block)
					o.check("Fill", all)
					copy(o.dst(), ramp(n))
					Axpy(o.dst(), a, z, block)
					o.check("Axpy", refPerturb(ramp(n), all, a))
					x := ramp(n + 3)[3-offset:][:n]
					Perturb(o.dst(), x, a, z, block)
					o.check("Perturb", refPerturb(x, all, a))
					other := newOffset(t, n, 3-offset)
					PerturbPair(o.dst(), other.dst(), x, a, z, block)
					o.check("PerturbPair plus", refPerturb(x, all, a))
					other.check("PerturbPair minus", refPerturb(x, all, -a))
					copy(o.dst(), ramp(n))
					Sum(o.dst(), list, block)
					o.check("Sum", sum)
				}
			}
		})
	}
}

// An offset is a destination between guards. The destination begins some elements after the start
// of an allocation.
type offset struct {
	t     *testing.T
	n     int
	by    int
	whole []float32
}

func newOffset(t *testing.T, n, by int) *offset {
	o := &offset{t, n, by, make([]float32, 16+by+n+16)}
	for i := range o.whole {
		o.whole[i] = guard
	}
	return o
}

func (o *offset) dst() []float32 { return o.whole[16+o.by:][:o.n:o.n] }

func (o *offset) check(name string, want []float32) {
	o.t.Helper()
	checkSame(o.t, name, o.dst(), want[:o.n])
	for i, v := range o.whole {
		if inside := i >= 16+o.by && i < 16+o.by+o.n; !inside && v != guard {
			o.t.Fatalf("%s: length %d, offset %d: wrote element %d", name, o.n, o.by, i-16-o.by)
		}
	}
}
