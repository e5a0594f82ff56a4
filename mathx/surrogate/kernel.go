package surrogate

import "math"

// A Kernel is the covariance of two values as a function of the distance r of their
// points; it is 1 for r = 0.
type Kernel uint8

const (
	// SquaredExponential is exp(-r^2/(2 l^2)), the kernel of the paper, which [Features]
	// approximate.
	SquaredExponential Kernel = iota

	// Matern52 is (1 + a r + (a r)^2/3) exp(-a r) with a = sqrt(5)/l, the kernel
	// of the official code.
	Matern52
)

// A shape is a kernel with its length scale, as a function of squared distance.
type shape struct {
	kernel Kernel
	scale  float64 // 1/(2 l^2), or a = sqrt(5)/l
	slope0 float64 // c_0: the slope at distance 0
}

func shapeOf(k Kernel, lengthScale float64) shape {
	l2 := lengthScale * lengthScale
	if k == Matern52 {
		return shape{k, math.Sqrt(5) / lengthScale, 5 / (3 * l2)}
	}
	return shape{k, 1 / (2 * l2), 1 / l2}
}

// value returns k.
func (s *shape) value(squared float64) float64 {
	if s.kernel == Matern52 {
		ar := s.scale * math.Sqrt(squared)
		return (1 + ar + ar*ar/3) * math.Exp(-ar)
	}
	return math.Exp(-s.scale * squared)
}

// slope returns the factor of x' - x in the gradient of k(x, x') over x.
func (s *shape) slope(squared float64) float64 {
	if s.kernel == Matern52 {
		ar := s.scale * math.Sqrt(squared)
		return s.slope0 * (1 + ar) * math.Exp(-ar)
	}
	return s.slope0 * math.Exp(-s.scale*squared)
}
