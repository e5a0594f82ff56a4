package lowrank_test

import (
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// TestPart: sums over a part of a layout are those of the whole, and a part has no more factors
// than its elements and their rows take.
func TestPart(t *testing.T) {
	eachCase(t, func(t *testing.T, r *rand.Rand, shapes []lowrank.Shape) {
		l := lowrank.New(shapes)
		z := make([]prng.Direction, 1+r.IntN(20))
		for i := range z {
			z[i] = address(r)
		}
		var signs, few lowrank.Signs
		var sums lowrank.Sums
		l.Load(&signs, z)
		sums.Set(values(r, len(z)))
		for range 4 {
			from, to := part(r, l.Len())
			p := l.Part(from, to-from)
			if n := p.Factors(); n != l.PartFactors(from, to-from) || n > to-from+2*len(shapes)+2 ||
				n > l.Factors()+2 {
				t.Errorf("elements %d to %d take %d factors of %d", from, to, n, l.Factors())
			}
			p.Load(&few, z)
			x := values(r, to-from)
			want := append([]float32(nil), x...)
			l.Sum(want, from, &signs, &sums)
			got, whole := guarded(x)
			cut := r.IntN(len(x) + 1)
			p.Sum(got[cut:], from+cut, &few, &sums)
			p.Sum(got[:cut], from, &few, &sums)
			checkSame(t, "sum", got, want)
			checkGuards(t, whole)
		}
		whole := l.Part(0, l.Len())
		if whole.Factors() != l.Factors() || whole.Blocks() != l.Blocks() {
			t.Errorf("the whole has %d factors in %d blocks, want %d in %d", whole.Factors(),
				whole.Blocks(), l.Factors(), l.Blocks())
		}
	})
}
