package zoflmnist

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// TestGradients runs the short form, of which every measurement has a row.
func TestGradients(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, Gradients(), &lab.Env{Short: true, Generated: 200, Screen: true})
	if len(r.Table.Rows) < 3 || len(r.Claims) != 0 {
		t.Errorf("%+v: want a row for each measurement", r.Table)
	}
}

// TestNoise compares the noise of two devices' gradients with its formulas on four segments.
func TestNoise(t *testing.T) {
	layout := []plan.Segment{{Len: 2}, {Len: 1}, {Len: 3}, {Len: 1}}
	n := noiseOf(layout, [][]float32{{3, 1, 2, 0, 0, 0, 1}, {1, 1, 0, 2, 0, 0, 1}})
	// Mean squares of the segments are 6, 2, 2 and 1; the mean is 2 1 1 1 0 0 1.
	tensors := math.Sqrt(2*6) + math.Sqrt(2) + math.Sqrt(3*2) + 1
	layers := math.Sqrt(3*8) + math.Sqrt(4*3)
	for name, pair := range map[string][2]float64{
		"norm":    {n.norm, math.Sqrt(11)},
		"common":  {n.common, (8 - 5.5) / 0.5 / 11},
		"tensors": {n.tensors, tensors * tensors / (7 * 11)},
		"layers":  {n.layers, layers * layers / (7 * 11)},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
}

// TestApart estimates a gradient of two layers by directions of all elements, and by as many of
// one layer each. The ratio of their mean squared errors is what [apart] says.
func TestApart(t *testing.T) {
	const small, d, n = 64, 1024, 96
	g := make([]float32, d)
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []part{{len: small}, {len: d - small}}
	for i := range g {
		g[i] = float32(rng.NormFloat64())
		if i < small {
			g[i] *= 8
		}
		parts[min(i/small, 1)].square += float64(g[i]) * float64(g[i])
	}
	roots := math.Sqrt(parts[0].len*parts[0].square) + math.Sqrt(parts[1].len*parts[1].square)
	first := int(math.Round(n * math.Sqrt(parts[0].len*parts[0].square) / roots))
	var joint, own float64
	for trial := range 200 {
		key := prng.Key(trial + 1)
		joint += squaredError(g, key, n)
		own += squaredError(g[:small], key, first) + squaredError(g[small:], key, n-first)
	}
	if got, want := own/joint, apart(parts); math.Abs(got/want-1) > 0.03 || want > 0.7 {
		t.Errorf("directions apart have %v of the error, want %v", got, want)
	}
}

// squaredError returns |e - g|^2 of the estimate e of g by n directions.
func squaredError(g []float32, key prng.Key, n int) (sum float64) {
	e, z := make([]float32, len(g)), make([]float32, len(g))
	for p := range n {
		dir := prng.Direction{Key: key, Perturbation: uint16(p), Dist: prng.Rademacher}
		c := prng.Dot(g, dir, 0)
		prng.Fill(z, dir, 0)
		for i, v := range z {
			e[i] += float32(c) * v / float32(n)
		}
	}
	for i, v := range e {
		sum += float64(v-g[i]) * float64(v-g[i])
	}
	return sum
}
