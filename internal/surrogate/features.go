package surrogate

import "math"

// Features are random Fourier features of a [Process]'s kernel, sqrt(2/M) cos(v_j x + b_j). Inner
// products of features approximate the kernel, with an error that falls as 1/sqrt(M). Any number of
// goroutines may use the same Features.
type Features struct {
	dim     int
	v       []float32
	b       []float64
	inverse float64 // 1/l
	height  float64 // sqrt(2/M)
}

// NewFeatures returns M = len(b) features of points with dim coordinates. v has M*dim standard
// normal numbers, where row j is v_j times lengthScale, and b has numbers in [0, 2 pi). Clients
// that exchange weights need the same v and b. NewFeatures keeps v and b without copying them.
// NewFeatures panics if v has another length, which is a bug of the caller.
func NewFeatures(dim int, v []float32, b []float64, lengthScale float64) *Features {
	if len(v) != len(b)*dim {
		panic("surrogate: internal error: v of features is not M*dim long")
	}
	return &Features{dim, v, b, 1 / lengthScale, math.Sqrt(2 / float64(len(b)))}
}

// Len returns M.
func (f *Features) Len() int { return len(f.b) }

// Map sets dst, of M elements, to phi(x).
//
//	for j := range M {
//		dst[j] = sqrt(2/M) * cos(v_j x + b_j)
//	}
func (f *Features) Map(dst, x []float64) {
	f.phases(dst[:len(f.b)], x)
	for j, phase := range dst[:len(f.b)] {
		dst[j] = f.height * math.Cos(phase)
	}
}

// Value returns phi(x)^T w. With w from [Fit.Weights], Value is the posterior mean at x minus the
// mean of the window's values, in units of y.
func (f *Features) Value(x, w []float64) float64 {
	sum := 0.0
	for j, b := range f.b {
		sum += w[j] * math.Cos(b+f.inverse*mixedDot(f.row(j), x))
	}
	return f.height * sum
}

// Gradient sets dst, of dim elements, to nabla phi(x)^T w. If w are the weights of a fit, or their
// mean over clients, dst becomes the gradient of the surrogate at x, in units of y over x. If w is
// the difference of two weights, dst becomes the difference of their gradients.
//
//	for j := range M {
//		dst -= sqrt(2/M) * w[j] * sin(v_j x + b_j) * v_j
//	}
func (f *Features) Gradient(dst, x, w []float64) {
	dst = dst[:f.dim]
	clear(dst)
	c := -f.height * f.inverse
	for j, b := range f.b {
		row := f.row(j)
		s := math.Sin(b + f.inverse*mixedDot(row, x))
		mixedAxpy(dst, c*w[j]*s, row)
	}
}

// phases sets dst[j] to v_j x + b_j.
func (f *Features) phases(dst, x []float64) {
	for j, b := range f.b {
		dst[j] = b + f.inverse*mixedDot(f.row(j), x)
	}
}

func (f *Features) row(j int) []float32 { return f.v[j*f.dim : (j+1)*f.dim] }

// mixedDot returns the inner product of a and the first elements of b. b may be longer than a.
func mixedDot(a []float32, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0]) * b[0]
		s1 += float64(a[1]) * b[1]
		s2 += float64(a[2]) * b[2]
		s3 += float64(a[3]) * b[3]
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += float64(v) * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// mixedAxpy adds c*a to the first elements of dst. dst may be longer than a.
func mixedAxpy(dst []float64, c float64, a []float32) {
	dst = dst[:len(a)]
	for len(a) >= 4 && len(dst) >= 4 {
		dst[0] += c * float64(a[0])
		dst[1] += c * float64(a[1])
		dst[2] += c * float64(a[2])
		dst[3] += c * float64(a[3])
		a, dst = a[4:], dst[4:]
	}
	for i, v := range a {
		dst[i] += c * float64(v)
	}
}
