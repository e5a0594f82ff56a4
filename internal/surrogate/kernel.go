package surrogate

import "math"

// A kernel is the covariance exp(-r^2/(2 l^2)) of the values at two points at distance r, as in the
// paper. [Features] approximate this kernel. The methods take the squared distance r^2.
type kernel struct {
	scale  float64 // 1/(2 l^2)
	slope0 float64 // c_0 = 1/l^2: the slope at distance 0
}

func kernelOf(lengthScale float64) kernel {
	l2 := lengthScale * lengthScale
	return kernel{1 / (2 * l2), 1 / l2}
}

// value returns k at a squared distance.
func (k *kernel) value(squared float64) float64 { return math.Exp(-k.scale * squared) }

// slope returns the factor of x' - x in the gradient of k(x, x') over x.
func (k *kernel) slope(squared float64) float64 { return k.slope0 * math.Exp(-k.scale*squared) }
