package surrogate

// stripe is how many features of each point multiply processes at a time, so that the features of
// two points fit into the first-level cache.
const stripe = 1024

// A Fit has the matrices of (3) for the points of a window: Phi, Phi^T Phi and the factor of Phi^T
// Phi + sigma^2 I. Only one goroutine may use a Fit at a time. Once the window is full, no method
// allocates.
//
// Points and values must be finite, as for a [Process].
type Fit struct {
	f   *Features
	sys system
	phi []float64 // Window*M: phi of a point, by slot
}

// NewFit returns a fit without points. window is n, the largest number of points; noise is sigma^2
// as in [Config]. NewFit panics if window or noise is invalid, which is a bug of the caller.
func NewFit(f *Features, window int, noise float64) *Fit {
	Config{Dim: f.dim, Window: window, LengthScale: 1, Noise: noise}.withDefaults()
	return &Fit{f: f, sys: newSystem(window, noise, false), phi: make([]float64, window*f.Len())}
}

// ZeroMean sets the prior mean m to 0 from now on, as in the paper's (3); see [Config].
func (t *Fit) ZeroMean() { t.sys.zero, t.sys.solved = true, false }

// Len returns the number of points.
func (t *Fit) Len() int { return t.sys.n }

// Jitter returns the number that the last Weights added to the diagonal, beyond the
// noise: see [Process.Jitter].
func (t *Fit) Jitter() float64 { return t.sys.jitter }

// Add appends a point with its value, and removes the oldest from a full window. Add takes M d
// multiplications. Weights does the remaining work, because that is faster for many points at once.
func (t *Fit) Add(x []float64, y float64) {
	t.f.Map(t.point(t.sys.push(y)), x)
}

// Weights sets w, of M elements, to (3), in units of y. [Features.Gradient] of w is the
// gradient of the surrogate, and [Features.Value] its value minus m, the mean of the
// window's values. Without points w is 0.
//
//	w = Phi (Phi^T Phi + sigma^2 I)^-1 (y - m)
func (t *Fit) Weights(w []float64) {
	t.multiply()
	t.sys.solve()
	w = w[:t.f.Len()]
	clear(w)
	for slot, a := range t.sys.weights[:t.sys.n] {
		axpy(w, a, t.point(slot))
	}
	for j := range w {
		w[j] *= t.sys.scale
	}
}

// point returns the features in a slot.
func (t *Fit) point(slot int) []float64 {
	m := t.f.Len()
	return t.phi[slot*m : (slot+1)*m : (slot+1)*m]
}

// multiply computes the rows of Phi^T Phi for the pending points. multiply goes through Phi stripe
// by stripe, so that it reads Phi only once for all pending points.
func (t *Fit) multiply() {
	s := &t.sys
	for i := s.n - s.pending; i < s.n; i++ {
		for j := range s.n {
			s.gram.set(s.slot(i), j, 0)
		}
	}
	for from := 0; from < t.f.Len(); from += stripe {
		to := min(from+stripe, t.f.Len())
		for i := s.n - s.pending; i < s.n; i += 2 {
			t.multiplyPair(i, min(i+1, s.n-1), from, to)
		}
	}
}

// multiplyPair adds the products of one stripe to the rows of points i and k, for all points up to
// k. i and k may be equal.
func (t *Fit) multiplyPair(i, k, from, to int) {
	s := &t.sys
	a, b := s.slot(i), s.slot(k)
	pa, pb := t.point(a)[from:to], t.point(b)[from:to]
	for j := 0; j <= k; j += 2 {
		c, d := s.slot(j), s.slot(min(j+1, k))
		ac, ad, bc, bd := dots2x2(pa, pb, t.point(c)[from:to], t.point(d)[from:to])
		s.addGram(a, c, ac, j <= i)
		s.addGram(b, c, bc, a != b)
		s.addGram(a, d, ad, c != d && j+1 <= i)
		s.addGram(b, d, bd, c != d && a != b)
	}
}
