package prng

import (
	"math"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

func TestDotMatchesReference(t *testing.T) { isatest.Each(t, testDotMatchesReference) }

// Every kernel adds the products of all elements and of no others. Only the order of the
// additions differs.
func testDotMatchesReference(t *testing.T) {
	const block = 77
	for name, dist := range distributions {
		t.Run(name, func(t *testing.T) {
			z := testDirection
			z.Dist = dist
			all := refFill(z, block, longest)
			for _, n := range lengths() {
				g, whole := guarded(n)
				var want, size float64
				for i, v := range g {
					product := float64(v) * float64(all[i])
					want, size = want+product, size+math.Abs(product)
				}
				if got := Dot(g, z, block); !(math.Abs(got-want) <= 1e-14*size) {
					t.Fatalf("length %d: got %v, want %v", n, got, want)
				}
				checkGuards(t, whole)
			}
		})
	}
}

// A NaN anywhere in g makes the product NaN.
func TestDotOfNaN(t *testing.T) {
	isatest.Each(t, func(t *testing.T) {
		for _, dist := range distributions {
			z := testDirection
			z.Dist = dist
			g := make([]float32, 5000)
			for _, at := range []int{0, 17, 4095, 4096, 4999} {
				g[at] = float32(math.NaN())
				if got := Dot(g, z, 0); got == got {
					t.Errorf("%v, NaN at %d: got %v", dist, at, got)
				}
				g[at] = 0
			}
		}
	})
}

func TestDotPanics(t *testing.T) {
	for name, f := range map[string]func(){
		blockOutOfRange:     func() { Dot(make([]float32, 1), Direction{Dist: Normal}, MaxBlocks) },
		unknownDistribution: func() { Dot(make([]float32, 1), Direction{}, 0) },
	} {
		func() {
			defer func() {
				if got := recover(); got != name {
					t.Errorf("got %v, want %v", got, name)
				}
			}()
			f()
		}()
	}
}
