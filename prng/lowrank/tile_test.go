package lowrank_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// TestTiles: tiles have each element once, their spans ascend, and sums over a tile, by a layout
// and by its part, are those over the elements.
func TestTiles(t *testing.T) {
	eachCase(t, func(t *testing.T, r *rand.Rand, shapes []lowrank.Shape) {
		l := lowrank.New(shapes)
		z := make([]prng.Direction, r.IntN(80))
		for i := range z {
			z[i] = address(r)
		}
		var signs, few lowrank.Signs
		var sums lowrank.Sums
		l.Load(&signs, z)
		sums.Set(values(r, len(z)))
		x, got := values(r, l.Len()), make([]float32, l.Len())
		want := append([]float32(nil), x...)
		l.Sum(want, 0, &signs, &sums)
		most, elements, last := prng.BlockLen<<r.IntN(3), 0, 0
		for i, tile := range l.Tiles(most) {
			elements += tile.Len()
			from, to := tile.Span()
			if tile.Len() > most || from < last || to > l.Len() {
				t.Fatalf("tile %d: %+v after element %d", i, tile, last)
			}
			last = from
			v, whole := guarded(make([]float32, tile.Len()))
			tile.Pack(v, x)
			if tile.Contiguous() {
				checkSame(t, "contiguous", v, x[tile.At():tile.At()+tile.Len()])
			}
			if i%3 == 0 {
				part := l.Part(from, to-from)
				part.Load(&few, z)
				part.SumTile(v, &tile, &few, &sums)
			} else {
				l.SumTile(v, &tile, &signs, &sums)
			}
			tile.Unpack(got, v)
			checkGuards(t, whole)
		}
		if elements != l.Len() {
			t.Errorf("tiles have %d of %d elements", elements, l.Len())
		}
		checkSame(t, fmt.Sprint("tiles of ", most), got, want)
	})
}
