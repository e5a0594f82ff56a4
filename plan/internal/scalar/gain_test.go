package scalar

import (
	"math"
	"math/rand/v2"
	"testing"
)

// gain returns sum(c s) / sum(s^2) for blocks of n normal scalars s that are read as c: by what
// factor a scalar counts on average.
func gain(z Quantizer, n int) float64 {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	block, read := make([]float32, n), make([]float32, n)
	product, square := 0.0, 0.0
	for range 100_000 / n {
		for i := range block {
			block[i] = float32(rng.NormFloat64())
		}
		z.Decode(read, z.Append(nil, block))
		for i, s := range block {
			product += float64(s) * float64(read[i])
			square += float64(s) * float64(s)
		}
	}
	return product / square
}

// TestGain has the table of docs/methods.md. Codes are the nearest ones, not drawn, so that scalars
// of few bits are biased.
func TestGain(t *testing.T) {
	for name, want := range map[string][]float64{
		"int8": {1.000, 1.000, 1.000, 1.000},
		"int4": {1.094, 1.002, 0.996, 0.983},
		"int2": {1.494, 0.955, 0.914, 0.884},
	} {
		for i, n := range []int{1, 5, 10, 100} {
			got := gain(tested[name].Quantizer, n)
			t.Logf("%s, P=%d: %.3f", name, n, got)
			if math.Abs(got-want[i]) > 0.004 {
				t.Errorf("%s, P=%d: %.4f, want %.3f", name, n, got, want[i])
			}
		}
	}
}

// TestZero: a scalar of 0 becomes half a code above 0, and -0 too, unless all are 0.
func TestZero(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	for name, z := range tested {
		read := make([]float32, 3)
		z.Decode(read, z.Append(nil, []float32{0, negative, 1}))
		if read[0] <= 0 || read[1] != read[0] {
			t.Errorf("%s: 0 and -0 beside 1 become %v", name, read)
		}
		z.Decode(read, z.Append(nil, []float32{0, negative, 0}))
		if read[0] != 0 || read[1] != 0 {
			t.Errorf("%s: zeros become %v", name, read)
		}
	}
}
