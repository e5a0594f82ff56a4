package surrogate

import "math"

// A likelihood is the work space in which FitLengthScale compares length scales for the points of a
// window.
type likelihood struct {
	squared triangle // squared distances, by slot
	l       factor   // of A for the length scale that is being tried
	z       []float64
}

// A scale is an l, as the power of 2 times the configured one, with the logarithm of its
// likelihood.
type scale struct{ power, score float64 }

// FitLengthScale tries the powers from -widest to widest in steps of 1/2. Then it halves the step
// around the best, at most mostHalvings times.
const (
	widest       = 4
	mostHalvings = 6
)

// worth is the gain of the logarithm of the likelihood, in nats, for which FitLengthScale halves
// the step.
const worth = 0.1

// FitLengthScale sets the length scale l to the one that makes the values of the window most
// likely, and returns it. FitLengthScale tries the configured l times 2^(k/2) for k from -8 to 8.
// Around the best it then halves the step, until the parabola through the best and its neighbors
// promises less than a tenth of a nat. The more points there are, the sharper is the maximum. In
// all that takes n^2 d/2 operations and n^3/6 for each of 17 to 29 trials. Of equally good length
// scales it takes the shortest. With fewer than 3 points, or equal values, it returns the
// configured l. The result depends only on the window, and stays in use until the next call of
// FitLengthScale.
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
	best := p.refined(p.coarse())
	l := p.cfg.LengthScale
	if !math.IsInf(best.score, -1) {
		l *= math.Pow(2, best.power)
	}
	p.rescale(l)
	return l
}

// coarse returns the best of the powers in steps of 1/2, between its neighbors.
func (p *Process) coarse() (left, best, right scale) {
	best.score = math.Inf(-1)
	last := best
	for k := -2 * widest; k <= 2*widest; k++ {
		s := p.at(float64(k) / 2)
		switch {
		case s.score > best.score:
			left, best, right = last, s, scale{s.power + 0.5, math.Inf(-1)}
		case s.power == right.power:
			right = s
		}
		last = s
	}
	return left, best, right
}

// refined halves the step between three powers while that is worth it, and returns the best power.
// Half a step from the top of a parabola through the three scores, the loss is (2 best - left -
// right)/8.
func (p *Process) refined(left, best, right scale) scale {
	step := 0.5
	for range mostHalvings {
		if math.IsInf(best.score, -1) || 2*best.score-left.score-right.score < 8*worth {
			break
		}
		step /= 2
		shorter, longer := p.at(best.power-step), p.at(best.power+step)
		switch {
		case shorter.score >= best.score && shorter.score >= longer.score:
			best, right = shorter, best
		case longer.score > best.score:
			left, best = best, longer
		default:
			left, right = shorter, longer
		}
	}
	return best
}

// at returns a power with its score. Beyond the widest nothing is likely.
func (p *Process) at(power float64) scale {
	if math.Abs(power) > widest {
		return scale{power, math.Inf(-1)}
	}
	return scale{power, p.score(kernelOf(p.cfg.LengthScale * math.Pow(2, power)))}
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
