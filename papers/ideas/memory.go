package ideas

// A memory holds the state that later rounds need from earlier estimates, apart from the
// momentum.
type memory struct {
	long     []float32 // longer momentum
	products float64   // running sums of <scalar, prediction> and of squared predictions
	squares  float64
	power    float64 // of the filter's bias
	last     [][]summand
}

const (
	longBeta  = 0.97
	window    = 10 // rounds that are replayed
	sweeps    = 2
	forgetFit = 0.9
)

// estimate returns the bias-corrected momentum after a round's scalars.
func (t *trial) estimate(list []summand) []float32 {
	d := len(t.x)
	switch t.Memory {
	case Kalman:
		return t.kalman(list)
	case Squares:
		return t.leastSquares(list)
	}
	var g []float32
	switch {
	case t.Memory == Momentum || t.n == 1:
		g = t.plain(d, list)
		t.diagonal.learn(&t.Arm, list, g)
		g = t.diagonal.shaped(g)
	default:
		g = t.controlled(list)
	}
	blend(t.m, float32(t.beta()), g)
	if t.remembers.long == nil {
		t.remembers.long = make([]float32, d)
	}
	blend(t.remembers.long, longBeta, g)
	return t.diagonal.moved(t.unbiased())
}

// plain returns the mean of a round's scalars times their directions.
func (t *trial) plain(d int, list []summand) []float32 {
	if t.apart.last != nil {
		return t.apart.estimate(d, list)
	}
	return sum(d, 1/float64(count(list)), list)
}

// unbiased returns the momentum without the bias of its start at 0.
func (t *trial) unbiased() []float32 {
	out := make([]float32, len(t.m))
	for i, v := range t.m {
		out[i] = v / float32(1-t.b1)
	}
	return out
}

func blend(m []float32, beta float32, g []float32) {
	for i, v := range g {
		m[i] = beta*m[i] + (1-beta)*v
	}
}

// controlled returns the estimate f m + mean((c - f <z, m>) z), with the f that fits best.
func (t *trial) controlled(list []summand) []float32 {
	m, r := t.m, &t.remembers
	if t.Memory == LongControl {
		m = r.long
	}
	predicted := predictions(list, m)
	r.products, r.squares = forgetFit*r.products, forgetFit*r.squares
	for i, s := range list {
		for p, c := range s.c {
			r.products += float64(c * predicted[i].c[p])
			r.squares += float64(predicted[i].c[p] * predicted[i].c[p])
		}
	}
	f := float32(r.products / r.squares)
	for i, s := range list {
		for p, c := range s.c {
			predicted[i].c[p] = c - f*predicted[i].c[p]
		}
	}
	g := sum(len(t.x), 1/float64(count(list)), predicted)
	for i, v := range m {
		g[i] += f * v
	}
	return g
}

// predictions returns the slopes along the directions if the gradient were m.
func predictions(list []summand, m []float32) []summand {
	out := append([]summand(nil), list...)
	for i, s := range list {
		out[i].c = s.f.project(m, s.device, s.step)
	}
	return out
}

// correction returns the sum of (c - <z, m>) z over d.
func correction(list []summand, m []float32) []float32 {
	rest := predictions(list, m)
	for i, s := range list {
		for p, c := range s.c {
			rest[i].c[p] = c - rest[i].c[p]
		}
	}
	return sum(len(m), 1/float64(len(m)), rest)
}

// kalman keeps an estimate of the gradient: m += (c - <z, m>) z / d for all scalars at once.
func (t *trial) kalman(list []summand) []float32 {
	if t.n == 1 {
		t.remembers.power = 1
	}
	t.remembers.power *= 1 - float64(count(list))/float64(len(t.x))
	out := make([]float32, len(t.m))
	for i, v := range correction(list, t.m) {
		t.m[i] += v
		out[i] = t.m[i] / float32(1-t.remembers.power)
	}
	return out
}

// leastSquares returns the gradient of least norm that fits the scalars of the window.
// leastSquares then multiplies this gradient by a factor above 1, because its norm lacks the part
// of the gradient outside the span of the directions.
func (t *trial) leastSquares(list []summand) []float32 {
	r := &t.remembers
	r.last = append(r.last, list)
	r.last = r.last[max(0, len(r.last)-window):]
	var all []summand
	for _, l := range r.last {
		all = append(all, l...)
	}
	g := make([]float32, len(t.x))
	for range sweeps {
		for i, v := range correction(all, g) {
			g[i] += v
		}
	}
	by := float32(len(g)) / float32(count(all))
	for i := range g {
		g[i] *= by
	}
	return g
}
