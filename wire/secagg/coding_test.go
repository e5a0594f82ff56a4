package secagg_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// A sum of coded scalars differs from the float64 sum by at most half a level for each scalar.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		members, most uint32
		bound         float32
	}{{1, 1, 1}, {2, 1, 8}, {5, 1, 990.25}, {100, 1, 1e-20}, {100, 8, 3e30}, {1 << 14, 1, 0.7},
		{7, 1 << 20, 2}} {
		coding := secagg.Coding{Range: c.bound, Units: c.members * c.most}
		for _, full := range []bool{false, true} {
			sum, units, want := uint32(0), uint32(0), 0.0
			for range c.members {
				v, weight := (2*r.Float32()-1)*c.bound*1.2, 1+r.Uint32N(c.most)
				if full { // the largest sum there is
					v, weight = -c.bound, c.most
				}
				word, cut, err := coding.Word(v, weight)
				if err != nil || cut != (v > c.bound || v < -c.bound) {
					t.Fatalf("%v: cut %v, %v", v, cut, err)
				}
				sum, units = sum+word, units+weight
				want += float64(weight) * max(-float64(c.bound), min(float64(v), float64(c.bound)))
			}
			got := coding.Sum(sum)
			if off := math.Abs(got - want); off > coding.Error(units)+1e-15*math.Abs(want) {
				t.Errorf("%v: got %v, want %v within %v", c, got, want, coding.Error(units))
			}
		}
	}
}

// A value halfway between two levels has the error that Error returns.
func TestErrorIsTight(t *testing.T) {
	coding := secagg.Coding{Range: 127, Units: 1 << 24} // a level is 1
	if got := coding.Error(1); math.Abs(got-0.5) > 1e-5 {
		t.Fatalf("got %v, want 0.5", got)
	}
	for v, want := range map[float32]float64{0.5: 0, 1.5: 2, 2.5: 2, -0.5: 0, -1.5: -2, 2.4999: 2} {
		if word, _, err := coding.Word(v, 1); err != nil || coding.Sum(word) != want {
			t.Errorf("%v: got %v, %v, want %v", v, coding.Sum(word), err, want)
		}
	}
}

func TestValuesWithoutCode(t *testing.T) {
	coding := secagg.Coding{Range: 8, Units: 5}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if word, cut, err := coding.Word(float32(v), 1); word != 0 || cut ||
			!errors.Is(err, secagg.ErrValue) {
			t.Errorf("%v: got %v, %v, %v, want %v", v, word, cut, err, secagg.ErrValue)
		}
	}
}
