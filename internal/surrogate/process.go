package surrogate

// A Process is a Gaussian process conditioned on a window of points, and the process of its
// gradient: (2) and (8) of FZooS. Only one goroutine may use a Process at a time. Once the window
// is full, no method allocates.
//
// Coordinates, values and squared distances must be finite; callers refuse other values. Then no
// result is NaN. While a point or value that is not finite is in the window, results are NaN, but
// no method panics or hangs.
type Process struct {
	cfg    Config
	kernel kernel
	sys    system
	x      []float64 // Window*Dim, by slot

	trial *likelihood // nil before the first FitLengthScale
	inv   *inverse    // nil before the first Uncertainty, as is team
	team  *team

	columns []float64 // scratch of Covariance
}

// New returns a process without points. New panics if cfg is invalid. That is a bug of the caller,
// who must check settings before.
func New(cfg Config) *Process {
	cfg = cfg.withDefaults()
	return &Process{
		cfg:    cfg,
		kernel: kernelOf(cfg.LengthScale),
		sys:    newSystem(cfg.Window, cfg.Noise, cfg.ZeroMean),
		x:      make([]float64, cfg.Window*cfg.Dim),
	}
}

// Len returns the number of stored points, at most Window.
func (p *Process) Len() int { return p.sys.n }

// Point returns point i < [Process.Len], oldest first. If the caller adds all points in this order
// to a new process, the new process equals this one. The caller must not change x, nor use x after
// the next Add.
func (p *Process) Point(i int) (x []float64, y float64) {
	slot := p.sys.slot(i)
	return p.point(slot), p.sys.y[slot]
}

// Add appends a copy of a point of Dim coordinates with its value, and removes the oldest
// from a full window.
func (p *Process) Add(x []float64, y float64) {
	p.insert(x, y)
	p.settle()
}

// settle brings the factor up to date, and also the inverse if Uncertainty has built it.
func (p *Process) settle() {
	inv, n := p.inv, p.sys.n
	if inv == nil || !inv.live {
		p.sys.settle()
		return
	}
	slot := p.sys.slot(n - 1)
	left := p.sys.l.n == n // the window was full, so another point was in this slot
	if p.sys.settle() {
		inv.live = false
		return
	}
	if left {
		inv.drop(slot, n)
	}
	inv.append(&p.sys)
	inv.place(slot, n, p.point(slot))
}

// insert stores a point in its slot, and computes its row of the kernel matrix.
func (p *Process) insert(x []float64, y float64) {
	slot := p.sys.push(y)
	own := p.point(slot)
	copy(own, x[:p.cfg.Dim])
	for j := range p.sys.n {
		k := p.kernel.value(squaredDistance(own, p.point(j)))
		p.sys.gram.set(slot, j, k)
	}
}

// point returns the coordinates in a slot.
func (p *Process) point(slot int) []float64 {
	d := p.cfg.Dim
	return p.x[slot*d : (slot+1)*d : (slot+1)*d]
}

// Jitter returns the number that the process added to A's diagonal, beyond Noise, so that the
// factor exists. Jitter is usually 0, but larger if points coincide and Noise is tiny.
func (p *Process) Jitter() float64 { return p.sys.jitter }

// Mean returns the posterior mean at x, in units of y; 0 without points. Far from all points, the
// posterior mean is the mean of the window's values.
//
//	m + k(x)^T A^-1 (y - m)
func (p *Process) Mean(x []float64) float64 {
	p.sys.solve()
	if p.sys.n == 0 {
		return 0
	}
	sum := 0.0
	for i, a := range p.sys.weights[:p.sys.n] {
		sum += a * p.kernel.value(squaredDistance(x, p.point(i)))
	}
	return p.sys.mean + p.sys.scale*sum
}

// Variance returns the posterior variance of the value at x, in units of the kernel: 1
// without points, and at most Noise at a point.
//
//	k(x, x) - k(x)^T A^-1 k(x)
func (p *Process) Variance(x []float64) float64 {
	z := p.sys.z[:p.sys.n]
	for i := range z {
		z[i] = p.kernel.value(squaredDistance(x, p.point(p.sys.slot(i))))
	}
	p.sys.l.solveLower(z, z)
	return max(0, 1-dot(z, z))
}

// Gradient sets dst, of Dim elements, to the gradient of the posterior mean at x, in units of y
// over x: the local surrogate of (8). Without points the gradient is 0.
//
//	J(x)^T A^-1 (y - m)
func (p *Process) Gradient(dst, x []float64) {
	p.sys.solve()
	dst, x = dst[:p.cfg.Dim], x[:p.cfg.Dim]
	clear(dst)
	for i, a := range p.sys.weights[:p.sys.n] {
		xi := p.point(i)
		c := a * p.kernel.slope(squaredDistance(x, xi))
		for j, v := range xi {
			dst[j] += c * (v - x[j])
		}
	}
	for j := range dst {
		dst[j] *= p.sys.scale
	}
}
