package surrogate

// Uncertainty sets dst[i] to the trace of the covariance (8) of the gradient at xs[i], in units of
// the kernel over squared x. The trace is between 0 and c_0*Dim; without points it is c_0*Dim.
//
//	c_0 Dim - sum over i, j of A^-1[i][j] u_i u_j (x - x_i)^T (x - x_j)
//
// where u_i (x_i - x) is row i of J(x). The result of a candidate does not depend on the others.
// The first call, and later one call for every n added points, computes A^-1, with n^3/3 + n^2 d/2
// multiplications.
//
// If many points nearly coincide, rounding causes an error of about 1e-16/Noise times c_0*Dim.
// [Process.Covariance] does not use A^-1, and avoids this error.
func (p *Process) Uncertainty(dst []float64, xs [][]float64) {
	dst = dst[:len(xs)]
	if len(xs) == 0 {
		return
	}
	if p.inv == nil {
		p.inv = newInverse(p.cfg.Window, p.cfg.Dim)
		p.team = newTeam(p)
	}
	if !p.inv.live {
		p.inv.build(p)
	}
	p.team.run(dst, xs)
}

// traces sets known[c] to candidate c's sum over i, j of A^-1[i][j] u_i u_j (x - x_i)^T (x - x_j).
// traces processes two rows and two candidates at a time.
func (d *workspace) traces(known []float64) {
	clear(known)
	n := d.p.sys.n
	for i := 0; i+1 < n; i += 2 {
		for c := 0; c < len(known); c += 2 {
			d.rows(known, i, c, min(c+1, len(known)-1))
		}
	}
	if n%2 == 1 {
		for c := range known {
			known[c] += d.element(c, n-1, n-1) + 2*d.lastRow(c, n-1)
		}
	}
}

// rows adds the elements of rows i and i+1 up to the diagonal, and the equal elements above the
// diagonal.
func (d *workspace) rows(known []float64, i, c0, c1 int) {
	inv := d.p.inv
	f := form{
		a0: inv.a.row(i)[:i], a1: inv.a.row(i + 1)[:i],
		g0: inv.gram.row(i)[:i], g1: inv.gram.row(i + 1)[:i],
		u0: d.u[c0], u1: d.u[c1], q0: d.q[c0], q1: d.q[c1],
		r00: d.r[c0] - d.q[c0][i], r01: d.r[c1] - d.q[c1][i],
		r10: d.r[c0] - d.q[c0][i+1], r11: d.r[c1] - d.q[c1][i+1],
	}
	t00, t01, t10, t11 := f.sums()
	known[c0] += 2*(d.u[c0][i]*t00+d.u[c0][i+1]*t10) + d.corner(c0, i)
	if c1 != c0 {
		known[c1] += 2*(d.u[c1][i]*t01+d.u[c1][i+1]*t11) + d.corner(c1, i)
	}
}

// corner returns the sum of the four elements in rows and columns i and i+1.
func (d *workspace) corner(c, i int) float64 {
	return d.element(c, i, i) + d.element(c, i+1, i+1) + 2*d.element(c, i+1, i)
}

// element returns A^-1[i][j] u_i u_j (x - x_i)^T (x - x_j), j <= i.
func (d *workspace) element(c, i, j int) float64 {
	u, q := d.u[c], d.q[c]
	inner := d.p.inv.gram.row(i)[j] - q[j] + (d.r[c] - q[i])
	return d.p.inv.a.row(i)[j] * u[i] * u[j] * inner
}

// lastRow returns the sum of the elements of row i left of the diagonal.
func (d *workspace) lastRow(c, i int) (sum float64) {
	for j := range i {
		sum += d.element(c, i, j)
	}
	return sum
}

// A form holds the inputs of sums: two rows of A^-1, two rows of the points' inner products, and
// the slopes u and inner products q of two candidates.
type form struct {
	a0, a1, g0, g1, u0, u1, q0, q1 []float64
	r00, r01, r10, r11             float64 // r - q_i of row and candidate
}

// sums returns for each row and candidate
//
//	sum over j of a[j] * (g[j] - q[j] + r) * u[j]
func (f *form) sums() (t00, t01, t10, t11 float64) {
	n := len(f.a0)
	a1, g0, g1 := f.a1[:n], f.g0[:n], f.g1[:n]
	u0, u1, q0, q1 := f.u0[:n], f.u1[:n], f.q0[:n], f.q1[:n]
	r00, r01, r10, r11 := f.r00, f.r01, f.r10, f.r11
	for j, s0 := range f.a0 {
		s1, h0, h1 := a1[j], g0[j], g1[j]
		w, p := u0[j], q0[j]
		t00 += s0 * w * (h0 - p + r00)
		t10 += s1 * w * (h1 - p + r10)
		w, p = u1[j], q1[j]
		t01 += s0 * w * (h0 - p + r01)
		t11 += s1 * w * (h1 - p + r11)
	}
	return t00, t01, t10, t11
}
