package stepsize_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/stepsize"
)

// gainOf returns G after a number of rounds with the given slopes.
func gainOf(rounds uint64, slopes func() []float64) float64 {
	var law stepsize.Law
	past := stepsize.Past{}
	for n := range rounds {
		step := law.Next(lawPlan(1), past, n+1, oneTerm, falling(n), slopes())
		past = stepsize.Past{Step: step, Round: n + 1}
	}
	return float64(past.Step) / 0.2 * math.Sqrt(1+float64(rounds-1)/30)
}

// unlike returns slopes of 20 devices whose mean is 0 except for noise. With sign 1, the loss rises
// along m for three devices and falls for all others; with sign -1, the reverse.
func unlike(rng *rand.Rand, sign float64) []float64 {
	v := make([]float64, 20)
	for i := range v {
		v[i] = sign * (0.12 + 0.1*rng.NormFloat64())
		if i < 3 {
			v[i] = sign * (-0.68 + 0.1*rng.NormFloat64())
		}
	}
	return v
}

// If devices' data differ, the trimmed mean of the slopes is on the same side of the mean round
// after round. In a long run G must not follow the trimmed mean.
func TestLawOfUnlikeDevices(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		rng := rand.New(rand.NewPCG(4, 9))
		if g := gainOf(900, func() []float64 { return unlike(rng, sign) }); g < 0.5 || g > 2 {
			t.Errorf("sign %v: G is %v after 900 rounds whose slopes cancel", sign, g)
		}
		with := func() []float64 {
			v := unlike(rng, 1)
			for i := range v {
				v[i] += sign / 2
			}
			return v
		}
		if g := gainOf(300, with); math.Log(g)*sign < 1 {
			t.Errorf("sign %v: G is %v after 300 rounds whose slopes do not", sign, g)
		}
	}
}

// Lying devices may send any slope: through the mean of all slopes they can stop G, but they move G
// no farther than through the trimmed mean alone.
func TestLawDespiteLiars(t *testing.T) {
	for _, lie := range []float64{0.5, -0.5, 1e30, -1e30} {
		for _, slope := range []float64{0, -0.1, 0.1} {
			both, trimmed := new(stepsize.Law), new(stepsize.Law)
			rng := rand.New(rand.NewPCG(5, 20))
			slopes := func() []float64 {
				v := []float64{lie, lie, lie, lie}
				for range 16 {
					v = append(v, slope+0.3*rng.NormFloat64())
				}
				return v
			}
			past, other := stepsize.Past{}, stepsize.Past{}
			for n := range uint64(300) {
				v := slopes()
				one := []float64{stepsize.Trimmed(slices.Clone(v))}
				past.Step = both.Next(lawPlan(1), past, n+1, oneTerm, falling(n), v)
				other.Step = trimmed.Next(lawPlan(1), other, n+1, oneTerm, falling(n), one)
				past.Round, other.Round = n+1, n+1
			}
			start := 0.2 / math.Sqrt(1+299./30)
			g, alone := math.Log(float64(past.Step)/start), math.Log(float64(other.Step)/start)
			if math.Abs(g) > math.Abs(alone)+0.3 {
				t.Errorf("four of 20 send %g where others' slopes are %g: G is %.3g, and %.3g by the "+
					"trimmed mean alone", lie, slope, math.Exp(g), math.Exp(alone))
			}
		}
	}
}

// oneSided has slopes for which one of the two means is 0, by the name of the other mean.
var oneSided = map[string][]float64{
	"trimmed": {-0.8, -0.8, -0.1, 0.3, 0.3, 0.3, 0.4, 0.4},
	"whole":   {-0.1, -0.1, -0.1, 0, 0, 0.1, 0.1, 2},
}

// G moves only as far as both means of the slopes allow.
func TestLawNeedsBothMeans(t *testing.T) {
	for name, v := range oneSided {
		for _, sign := range []float64{1, -1} {
			g := gainOf(200, func() []float64 {
				slopes := slices.Clone(v)
				for i := range slopes {
					slopes[i] *= sign
				}
				return slopes
			})
			if math.Abs(g-1) > 1e-4 {
				t.Errorf("G is %v where the %s mean alone is not 0", g, name)
			}
		}
	}
}

// If only one mean had a slope of one sign for long, G does not change fast once both means agree.
func TestLawIsFastByBothMeans(t *testing.T) {
	p := lawPlan(1)
	p.Dim = 2
	for name, v := range oneSided {
		for _, sign := range []float64{1, -1} {
			var law stepsize.Law
			past := stepsize.Past{}
			for n := range uint64(66) {
				slopes := slices.Clone(v)
				for i := range slopes {
					if slopes[i] *= sign; n >= 60 {
						slopes[i] = sign
					}
				}
				past.Step = law.Next(p, past, n+1, oneTerm, falling(n), slopes)
				past.Round = n + 1
			}
			g := math.Pow(float64(past.Step)/0.2*math.Sqrt(1+65./30), sign)
			if g < 1.05 || g > 1.3 {
				t.Errorf("sign %v: G is %v times after 60 rounds of the %s mean alone and 6 of both",
					sign, g, name)
			}
		}
	}
}
