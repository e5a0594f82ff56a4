package surrogate

// dot returns the inner product of a and the first elements of b. b may be longer than a. dot uses
// four sums, because each addition to one sum waits for the addition before.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += v * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// axpy adds c*a to the first elements of dst. dst may be longer than a.
func axpy(dst []float64, c float64, a []float64) {
	dst = dst[:len(a)]
	for len(a) >= 4 && len(dst) >= 4 {
		dst[0] += c * a[0]
		dst[1] += c * a[1]
		dst[2] += c * a[2]
		dst[3] += c * a[3]
		a, dst = a[4:], dst[4:]
	}
	for i, v := range a {
		dst[i] += c * v
	}
}

// squaredDistance returns the squared length of a - b.
func squaredDistance(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1 float64
	for len(a) >= 2 && len(b) >= 2 {
		u, v := a[0]-b[0], a[1]-b[1]
		s0 += u * u
		s1 += v * v
		a, b = a[2:], b[2:]
	}
	if len(a) > 0 && len(b) > 0 {
		s0 += (a[0] - b[0]) * (a[0] - b[0])
	}
	return s0 + s1
}

// dots2x2 returns the inner products of a0 and a1 with b0 and b1, all as long as a0 or longer. For
// each index it reads four values and computes four products.
func dots2x2(a0, a1, b0, b1 []float64) (s00, s01, s10, s11 float64) {
	n := len(a0)
	a1, b0, b1 = a1[:n], b0[:n], b1[:n]
	for i, v0 := range a0 {
		v1, w0, w1 := a1[i], b0[i], b1[i]
		s00 += v0 * w0
		s01 += v0 * w1
		s10 += v1 * w0
		s11 += v1 * w1
	}
	return s00, s01, s10, s11
}

// A triangle is the lower half of a symmetric or triangular matrix: row i has
// i+1 elements and starts at i(i+1)/2.
type triangle []float64

func newTriangle(n int) triangle { return make(triangle, n*(n+1)/2) }

// row returns row i up to the diagonal.
func (t triangle) row(i int) []float64 {
	start := i * (i + 1) / 2
	return t[start : start+i+1 : start+i+1]
}

// at returns element (i, j) of a symmetric matrix.
func (t triangle) at(i, j int) float64 {
	if i < j {
		i, j = j, i
	}
	return t[i*(i+1)/2+j]
}

// set changes elements (i, j) and (j, i) of a symmetric matrix.
func (t triangle) set(i, j int, v float64) {
	if i < j {
		i, j = j, i
	}
	t[i*(i+1)/2+j] = v
}
