package reference

import "slices"

// FZooS is Algorithm 2 of the FZooS paper, with the window, the optimizer and the options of the
// paper's appendix and published code. A [Query] chooses the points at which a client evaluates
// its loss.
type FZooS struct {
	Posterior // without points
	Random
	Dim, K int
	Eta    float64
	Window int     // number of the latest points that count
	FitsL  bool    // each step takes the likeliest l, as the published code does
	Domain *Domain // nil: unbounded
	Local  Optimizer
	// Gamma is the correction length of a local step; nil: no correction.
	Gamma func(Step) float64
	// If AtRound is set, a client evaluates the gradients of the correction at x_{r-1}, as in
	// SCAFFOLD.
	AtRound bool
	// Travel rounds a number to a value that messages can carry, and a client remembers the rounded
	// number; nil: no rounding.
	Travel      func(float64) float64
	Decay, Prox float64
	Origin      []float64 // where decay pulls to
	StepScale   []float64 // factors on eta, by element
}

// A Query returns the points at which a client evaluates its loss in a step, and the values y.
// The first point is the client's x, the others are near x.
type Query func(client int, at At, x []float64) (points [][]float64, y []float64)

// An FZooSState is the state between rounds.
type FZooSState struct {
	X, W []float64         // W is nil before the first w
	Own  map[int][]float64 // w_i of the last round that client i took part in
	D    map[int]*Queries
}

// Queries are all queries of a client.
type Queries struct {
	X [][]float64
	Y []float64
}

// NewState returns the state of round 0 at x.
func (f *FZooS) NewState(x []float64) *FZooSState {
	return &FZooSState{X: clone(x), Own: map[int][]float64{}, D: map[int]*Queries{}}
}

// Iterate is lines 2-6 of Algorithm 2 for one client: it returns x_{r,T}.
func (f *FZooS) Iterate(s *FZooSState, client int, n uint64, query Query) []float64 {
	x, local := f.Domain.Project(s.X), f.Local
	start := x
	local.Begin(f.Dim)
	for k := range f.K {
		at := f.learn(s, client, At{n, k}, x, query)
		g := at.Gradient(x)
		f.correct(s, client, k+1, g, x, start)
		add(g, f.Prox, along(x, -1, start))
		add(g, f.Decay, along(x, -1, f.Origin))
		x = f.Domain.Project(along(x, -f.Eta, scaled(local.Step(g), f.StepScale)))
	}
	return x
}

// correct adds the correction of (5) to the gradient of step t.
func (f *FZooS) correct(s *FZooSState, client, t int, g, x, start []float64) {
	own := s.Own[client]
	if own == nil || s.W == nil || f.Gamma == nil {
		return
	}
	if f.AtRound {
		x = start
	}
	all, _ := s.D[client].latest(f.Window)
	c := f.Random.Gradient(x, along(s.W, -1, own))
	add(g, f.Gamma(Step{t, x, g, c, all}), c)
}

// Weigh is lines 7 and 8 of Algorithm 2 for one client: after queries around x_r, it returns
// w_{r,T}.
func (f *FZooS) Weigh(s *FZooSState, client int, n uint64, query Query) []float64 {
	f.learn(s, client, At{n, 0}, f.Domain.Project(s.X), query)
	p := f.Posterior
	p.X, p.Y = s.D[client].latest(f.Window)
	w := f.Weights(p)
	s.Own[client] = f.travel(w)
	return w
}

// travel returns v with each element rounded as in messages.
func (f *FZooS) travel(v []float64) []float64 {
	out := clone(v)
	for i := range out {
		if f.Travel != nil {
			out[i] = f.Travel(out[i])
		}
	}
	return out
}

// learn adds a step's queries to a client's trajectory, and returns the posterior at x.
func (f *FZooS) learn(s *FZooSState, client int, at At, x []float64, query Query) Posterior {
	d := s.D[client]
	if d == nil {
		d = &Queries{}
		s.D[client] = d
	}
	points, y := query(client, at, x)
	d.X, d.Y = append(d.X, points[0]), append(d.Y, y[0])
	p := f.condition(d)
	for i := 1; i < len(points); i++ {
		d.X, d.Y = append(d.X, points[i]), append(d.Y, y[i])
		p.X, p.Y = append(p.X, points[i]), append(p.Y, y[i])
	}
	first := max(0, len(p.X)-f.Window)
	p.X, p.Y = p.X[first:], p.Y[first:]
	return p
}

// condition returns the Gaussian process conditioned on the points in the window, with the length
// scale l for these points.
func (f *FZooS) condition(d *Queries) Posterior {
	p := f.Posterior
	p.X, p.Y = d.latest(f.Window)
	if f.FitsL {
		p = p.Likeliest()
	}
	return p
}

// latest returns copies of the latest n points.
func (d *Queries) latest(n int) ([][]float64, []float64) {
	first := max(0, len(d.X)-n)
	return slices.Clone(d.X[first:]), slices.Clone(d.Y[first:])
}
