package models

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

// The two dense layers against the definition, and the gradient along itself against a
// central difference of it.
func TestCNNTwoDense(t *testing.T) {
	if m := NewCNNTwoDense(data.Digits(1, 1), 0.5, 1); m.Dim() != 26698 || m.Outputs() != 10 {
		t.Errorf("%d parameters and %d outputs, want 26698 and 10", m.Dim(), m.Outputs())
	}
	m := NewCNNTwoDense(noise(20, 11, 8, 10), 0.5, 0.3)
	params, grad, batch := Initial(m, 1), make([]float32, m.Dim()), sequence(20)
	loss := m.Gradient(grad, params, batch)
	if want := m.slow(params, batch); math.Abs(loss-want) > 1e-6*want ||
		math.Abs(m.Loss(params, batch)-want) > 1e-6*want {
		t.Errorf("loss %v of Gradient, %v of Loss, want %v", loss, m.Loss(params, batch), want)
	}
	var square float64
	for _, g := range grad {
		square += float64(g) * float64(g)
	}
	// Short, as rectifiers and pooling have kinks.
	const mu = 2e-5
	moved := func(by float64) float64 {
		to := make([]float32, len(params))
		for i, g := range grad {
			to[i] = params[i] + float32(by*float64(g)/math.Sqrt(square))
		}
		return m.slow(to, batch)
	}
	got := (moved(mu) - moved(-mu)) / (2 * mu)
	if want := math.Sqrt(square); math.Abs(got-want) > 2e-3*want {
		t.Errorf("the derivative along the gradient is %v, want its norm %v", got, want)
	}
}
