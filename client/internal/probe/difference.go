package probe

import "github.com/zofl/zofl/plan"

// start returns the loss at x for a step with forward differences or a gradient. If the objective
// is batched, start asks it for all losses of the step.
func (e *estimation) start(perturbations int) (base float64, err error) {
	if e.prober.slopes.serves(e.plan) {
		return e.differentiate(perturbations)
	}
	forward := e.plan.Difference == plan.Forward
	if e.points = 2 * perturbations; forward {
		e.points = 1 + perturbations
	}
	if e.prober.batched != nil {
		if err := e.askStep(perturbations); err != nil {
			return 0, err
		}
	} else {
		e.computeLengths(perturbations)
	}
	if !forward {
		return 0, nil
	}
	return e.at(0, 0, 0)
}

// difference returns the scalar of z[p] and the loss near x. The scalar is the derivative along
// z[p] in the plan's unit of losses.
func (e *estimation) difference(base float64, p int) (g, mean float64, err error) {
	d, mean, err := e.derivative(base, p)
	if err != nil { // after an abandoned call, e.plan may be the plan of another task
		return 0, 0, err
	}
	return e.inUnits(d), mean, nil
}

// inUnits divides a derivative by the plan's unit of losses.
func (e *estimation) inUnits(d float64) float64 {
	if e.plan.LossUnit > 0 {
		return d / float64(e.plan.LossUnit)
	}
	return d
}

// derivative estimates the derivative d along z[p], and the loss near x:
//
//	forward: d = (f(x+mu z) - base)/mu,         mean = base
//	central: d = (f(x+mu z) - f(x-mu z))/(2 mu), mean = (f(x+mu z) + f(x-mu z))/2
//
// The replicas apply factors of a distribution, such as the sphere's d. An app that differentiates
// gives the limit of d for mu to 0, and the loss at x.
func (e *estimation) derivative(base float64, p int) (d, mean float64, err error) {
	if e.prober.slopes.serves(e.plan) {
		return e.slope(base, p)
	}
	step := e.plan.Mu
	mu := float64(step)
	if e.plan.Difference == plan.Forward {
		f, err := e.at(1+p, step, p)
		return (f - base) / mu, base, err
	}
	plus, err := e.at(2*p, step, p)
	if err != nil {
		return 0, 0, err
	}
	minus, err := e.at(2*p+1, -step, p)
	return (plus - minus) / (2 * mu), (plus + minus) / 2, err
}

func abs(v float32) float32 {
	if v < 0 {
		return -v
	}
	return v
}
