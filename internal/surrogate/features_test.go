package surrogate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/internal/surrogate"
)

// newFeatures draws m features.
func newFeatures(seed uint64, m, dim int, lengthScale float64) *surrogate.Features {
	r := rand.New(rand.NewPCG(seed, 3))
	v, b := make([]float32, m*dim), make([]float64, m)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	for i := range b {
		b[i] = 2 * math.Pi * r.Float64()
	}
	return surrogate.NewFeatures(dim, v, b, lengthScale)
}

// The root mean square error of the kernel, over seeds and pairs of points,
// falls as 1/sqrt(M).
func TestFeaturesAreTheKernel(t *testing.T) {
	const dim, lengthScale, seeds = 5, 0.8, 60
	var sizes, errors []float64
	for _, m := range []int{64, 256, 1024, 4096} {
		sum := 0.0
		for seed := range uint64(seeds) {
			f, c := newFeatures(seed, m, dim, lengthScale), newCloud(seed, dim, 0.5)
			x, y := c.point(), c.point()
			px, py := make([]float64, m), make([]float64, m)
			f.Map(px, x)
			f.Map(py, y)
			got := 0.0
			for i := range px {
				got += px[i] * py[i]
			}
			r := norm(difference(x, y)) / lengthScale
			sum += math.Pow(got-math.Exp(-r*r/2), 2)
		}
		sizes = append(sizes, math.Log(float64(m)))
		errors = append(errors, math.Log(math.Sqrt(sum/seeds)))
	}
	if s := slope(sizes, errors); !(s > -0.6 && s < -0.4) {
		t.Errorf("got errors falling as M^%.3f, want M^-0.5", s)
	}
}

// slope returns the slope of the least squares line.
func slope(x, y []float64) float64 {
	var mx, my, xy, xx float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(x))
	}
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
	}
	return xy / xx
}

func TestFeaturesByDefinition(t *testing.T) {
	for _, dim := range []int{1, 3, 4, 9} {
		r := rand.New(rand.NewPCG(1, uint64(dim)))
		const m = 6
		v, b, w, x := make([]float32, m*dim), make([]float64, m), make([]float64, m),
			make([]float64, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		for j := range m {
			b[j], w[j] = 6*r.Float64(), r.NormFloat64()
		}
		for i := range x {
			x[i] = r.NormFloat64()
		}
		f := surrogate.NewFeatures(dim, v, b, 2)
		want, wantGradient, wantValue := make([]float64, m), make([]float64, dim), 0.0
		for j := range m {
			phase := b[j]
			for i := range x {
				phase += float64(v[j*dim+i]) / 2 * x[i]
			}
			want[j] = math.Sqrt(2./m) * math.Cos(phase)
			wantValue += want[j] * w[j]
			for i := range x {
				wantGradient[i] -= math.Sqrt(2./m) * w[j] * math.Sin(phase) * float64(
					v[j*dim+i]) / 2
			}
		}
		got, gradient := make([]float64, m), make([]float64, dim)
		f.Map(got, x)
		f.Gradient(gradient, x, w)
		near(t, fmt.Sprint(dim, " features"), got, want, 1e-14)
		near(t, fmt.Sprint(dim, " gradient"), gradient, wantGradient, 1e-13)
		near(t, fmt.Sprint(dim, " value"), []float64{f.Value(x, w)}, []float64{wantValue}, 1e-13)
	}
}
