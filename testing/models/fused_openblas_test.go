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
	plain.forward.put(ws)
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
