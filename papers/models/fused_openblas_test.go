//go:build openblas && amd64

package models

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

// TestTiles: with tiles of bfloat16 and without, losses are the same to a millionth, and slopes
// of forward differences to a thousandth. The other tests judge what this processor has.
func TestTiles(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	m := NewCNNMNIST(data.Digits(70, 1), data.MNISTMean, data.MNISTStd)
	if !m.canFuse() || !hasTiles() {
		t.Skip("this processor has no AVX-512, or no tiles of bfloat16")
	}
	plain := NewCNNMNIST(m.images, data.MNISTMean, data.MNISTStd)
	ws := plain.newForward()
	ws.fused.tiles = nil
	plain.forward.Put(ws)
	x, batch, grad := Initial(m, 1), sequence(70), make([]float32, m.Dim())
	const mu = 1e-3
	at, want := m.Loss(x, batch), plain.Loss(x, batch)
	if math.Abs(at-want) > 1e-6*want {
		t.Errorf("with tiles the loss is %v, without %v", at, want)
	}
	m.Gradient(grad, x, batch)
	for i, g := range grad {
		x[i] += mu * float32(math.Copysign(1, float64(g)))
	}
	slope, exact := (m.Loss(x, batch)-at)/mu, (plain.Loss(x, batch)-want)/mu
	if math.Abs(slope-exact) > 1e-3*math.Abs(exact) {
		t.Errorf("with tiles the slope is %v, without %v", slope, exact)
	}
}

// TestShort: losses by AVX2 alone are those of the definition, and gradients those of convolutions
// that are not fused, on a processor with AVX-512, too.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	for _, name := range []string{"mnist", "mnist 10x28"} {
		m := networks()[name]
		if !m.canFuse() {
			t.Skip("this processor has no AVX2")
		}
		ws := m.newForward()
		ws.fused.short, ws.fused.tiles = true, nil
		m.forward.Put(ws)
		x := Initial(m, 1)
		for _, at := range []int{0, 69} {
			got, want := m.Loss(x, []int{at}), m.slow(x, []int{at})
			if !(math.Abs(got-want) < 1e-6*want) {
				t.Errorf("%s, image %d: the loss is %v, want %v", name, at, got, want)
			}
		}
		for _, at := range []int{m.one.bias() + 15, m.two.bias() + 31, m.two.weight} {
			old := x[at]
			x[at] = float32(math.NaN())
			if loss := m.Loss(x, sequence(70)); !math.IsNaN(loss) {
				t.Errorf("%s: parameter %d is NaN, the loss %v", name, at, loss)
			}
			x[at] = old
		}
		short, plain := m.newFused(true), make([]float32, m.Dim())
		short.short, short.tiles = true, nil
		got := make([]float32, m.Dim())
		m.gradients.Put(m.gradientWith(short))
		m.Gradient(got, x, sequence(70))
		m.gradients.Put(m.gradientWith(nil))
		m.Gradient(plain, x, sequence(70))
		for i, want := range plain {
			if math.Abs(float64(got[i]-want)) > 1e-5 {
				t.Fatalf("%s: gradient %d is %v, want %v", name, i, got[i], want)
			}
		}
	}
}
