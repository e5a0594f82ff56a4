package surrogate

import "math"

// A likelihood is the work space in which FitLengthScale compares length scales for the points of a
// window.
type likelihood struct {
	squared triangle // squared distances, by slot
	l       factor   // of A for the length scale that is being tried
	z       []float64
}

// finest: FitLengthScale tries length scales from 2^-finest to 2^finest times the configured one,
// in steps of a factor of sqrt(2).
const finest = 4

// FitLengthScale sets the length scale l to the one that makes the values of the window most
// likely, and returns it. FitLengthScale tries the configured l times 2^(k/2) for k from -8 to 8,
// with n^2 d/2 + 17 n^3/6 operations. Of equally good length scales it takes the shortest. With
// fewer than 3 points, or equal values, it returns the configured l. The result depends only on the
// window, and stays in use until the next call of FitLengthScale.
//
// The logarithm of the likelihood, for the amplitude of the kernel that is best for each l, is, up
// to a constant,
//
//	-n/2 ln((y - m)^T A^-1 (y - m)) - ln|A|/2
func (p *Process) FitLengthScale() float64 {
	p.settle()
	if p.trial == nil {
		n := p.cfg.Window
		p.trial = &likelihood{newTriangle(n), newFactor(n), make([]float64, n)}
	}
	p.measure()
	best, most := p.cfg.LengthScale, math.Inf(-1)
	for k := -2 * finest; k <= 2*finest; k++ {
		l := p.cfg.LengthScale * math.Pow(2, float64(k)/2)
		if score := p.score(kernelOf(l)); score > most {
			best, most = l, score
		}
	}
	p.rescale(best)
	return best
}

// measure computes the squared distances between all points.
func (p *Process) measure() {
	for i := range p.sys.n {
		row := p.trial.squared.row(i)
		for j := range row {
			row[j] = squaredDistance(p.point(i), p.point(j))
		}
	}
}

// score returns the logarithm of the likelihood, or -Inf if A has no factor or all values are
// equal.
func (p *Process) score(k kernel) float64 {
	t, n := p.trial, p.sys.n
	t.l.n = 0
	for i := range n {
		row := t.z[:i]
		for j, squared := range t.squared.row(i)[:i] {
			row[j] = k.value(squared)
		}
		if !t.l.append(row, 1+p.sys.noise, p.sys.noise/2) {
			return math.Inf(-1)
		}
	}
	z := t.z[:n]
	middle, half := p.sys.valueRange()
	for slot := range z {
		z[slot] = (p.sys.y[slot] - middle) / half
	}
	p.sys.center(z)
	t.l.solveLower(z, z)
	quadratic, logs := dot(z, z), 0.0
	if n < 3 || !(quadratic > 0) {
		return math.Inf(-1)
	}
	for i := range n {
		logs += math.Log(t.l.l.row(i)[i])
	}
	return -float64(n)/2*math.Log(quadratic) - logs
}

// rescale computes the process again, with another length scale.
func (p *Process) rescale(l float64) {
	k := kernelOf(l)
	if k == p.kernel {
		return
	}
	p.kernel = k
	for i := range p.sys.n {
		for j, squared := range p.trial.squared.row(i) {
			p.sys.gram.set(i, j, k.value(squared))
		}
	}
	p.sys.refactor()
	p.sys.solved = false
	if p.inv != nil {
		p.inv.live = false
	}
}
