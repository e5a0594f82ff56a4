package surrogate

// Covariance sets dst, of Dim*Dim elements, row by row, to the covariance (8) of the gradient at x,
// in units of the kernel over squared x. Covariance uses the factor, with n^2 d/2 + n d^2/2
// multiplications, so it is for tests and small d.
//
//	c_0 I - J(x)^T A^-1 J(x)
func (p *Process) Covariance(dst, x []float64) {
	n, d := p.sys.n, p.cfg.Dim
	if p.columns == nil {
		p.columns = make([]float64, p.cfg.Window*(d+1))
	}
	z := p.columns[:n*d]
	slopes := p.columns[p.cfg.Window*d:][:n]
	for i := range slopes {
		slopes[i] = p.kernel.slope(squaredDistance(x[:d], p.point(p.sys.slot(i))))
	}
	for a := range d {
		column := z[a*n : (a+1)*n]
		for i, u := range slopes {
			column[i] = u * (p.point(p.sys.slot(i))[a] - x[a])
		}
		p.sys.l.solveLower(column, column)
		for b := range a + 1 {
			known := dot(column, z[b*n:(b+1)*n])
			dst[a*d+b], dst[b*d+a] = -known, -known
		}
		dst[a*d+a] += p.kernel.slope0
	}
}
