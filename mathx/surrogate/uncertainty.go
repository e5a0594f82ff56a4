package surrogate

import "sync"

// group is how many candidates are compared with a row of A^-1 while it is near.
const group = 8

// Uncertainty sets dst[i] to the trace of (8)'s covariance of the gradient at
// xs[i]: how much of c_0*Dim, what it is without points, is not known yet, in
// units of the kernel over squared x. It is from 0 to c_0*Dim.
//
//	c_0 Dim - sum over i, j of A^-1[i][j] u_i u_j (x - x_i)^T (x - x_j)
//
// where u_i (x_i - x) is row i of J(x). What a candidate gets does not depend on
// the others. The first call, and one in so many points as the window has, makes
// A^-1, at n^3/3 and n^2 d/2.
//
// Rounding leaves an error of about 1e-16/Noise of c_0*Dim where many points
// nearly coincide; [Process.Covariance] is the way around A^-1.
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

// A team shares the groups of candidates out among goroutines that end with the
// call. Which does which makes no difference.
type team struct {
	desks []desk
	wg    sync.WaitGroup
}

func newTeam(p *Process) *team {
	t := &team{desks: make([]desk, p.cfg.Workers)}
	for i := range t.desks {
		d := &t.desks[i]
		*d = newDesk(p)
		d.start = func() {
			defer t.wg.Done()
			d.work()
		}
	}
	return t
}

// run gives each worker as many groups as the next.
func (t *team) run(dst []float64, xs [][]float64) {
	groups := (len(xs) + group - 1) / group
	workers := min(len(t.desks), groups)
	for i := range workers {
		from, to := i*groups/workers*group, min(len(xs), (i+1)*groups/workers*group)
		t.desks[i].dst, t.desks[i].xs = dst[from:to], xs[from:to]
	}
	t.wg.Add(workers - 1)
	for i := 1; i < workers; i++ {
		go t.desks[i].start()
	}
	t.desks[0].work()
	t.wg.Wait()
}

// A desk is what one worker needs.
type desk struct {
	p     *Process
	start func() // made once, as a go statement of a func() allocates nothing
	dst   []float64
	xs    [][]float64

	x []float64        // a candidate minus center
	u [group][]float64 // slopes, by slot
	q [group][]float64 // inner products of the candidate and the points
	r [group]float64   // the candidate's with itself
}

func newDesk(p *Process) desk {
	d := desk{p: p, x: make([]float64, p.cfg.Dim)}
	for i := range d.u {
		d.u[i] = make([]float64, p.cfg.Window)
		d.q[i] = make([]float64, p.cfg.Window)
	}
	return d
}

func (d *desk) work() {
	prior := d.p.shape.slope0 * float64(d.p.cfg.Dim)
	for xs, dst := d.xs, d.dst; len(xs) > 0; {
		n := min(group, len(xs))
		for i, x := range xs[:n] {
			d.prepare(i, x)
		}
		d.traces(dst[:n])
		for i, known := range dst[:n] {
			dst[i] = min(prior, max(0, prior-known))
		}
		xs, dst = xs[n:], dst[n:]
	}
	d.dst, d.xs = nil, nil
}

// prepare fills u, q and r of a candidate.
func (d *desk) prepare(i int, x []float64) {
	inv, n := d.p.inv, d.p.sys.n
	for j, c := range inv.center {
		d.x[j] = x[j] - c
	}
	u, q, dim := d.u[i][:n], d.q[i][:n], len(d.x)
	r := dot(d.x, d.x)
	for j := range q {
		q[j] = dot(d.x, inv.x[j*dim:(j+1)*dim])
		squared := r - 2*q[j] + inv.gram.row(j)[j]
		u[j] = d.p.shape.slope(max(0, squared))
	}
	d.r[i] = r
}

// traces sets known[c] to candidate c's sum over i, j of
// A^-1[i][j] u_i u_j (x - x_i)^T (x - x_j), two rows and two candidates at a time.
func (d *desk) traces(known []float64) {
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

// rows adds rows i and i+1 up to the diagonal, and what mirrors them.
func (d *desk) rows(known []float64, i, c0, c1 int) {
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

// corner returns the elements of rows and columns i and i+1.
func (d *desk) corner(c, i int) float64 {
	return d.element(c, i, i) + d.element(c, i+1, i+1) + 2*d.element(c, i+1, i)
}

// element returns A^-1[i][j] u_i u_j (x - x_i)^T (x - x_j), j <= i.
func (d *desk) element(c, i, j int) float64 {
	u, q := d.u[c], d.q[c]
	inner := d.p.inv.gram.row(i)[j] - q[j] + (d.r[c] - q[i])
	return d.p.inv.a.row(i)[j] * u[i] * u[j] * inner
}

// lastRow returns the sum of the elements left of the diagonal.
func (d *desk) lastRow(c, i int) (sum float64) {
	for j := range i {
		sum += d.element(c, i, j)
	}
	return sum
}

// A form is two rows of A^-1 and of the points' inner products, with two
// candidates' slopes and products.
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
