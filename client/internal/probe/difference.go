package probe

import "github.com/zofl/zofl/wire"

// start returns the loss that a step's forward differences start from; of a batched
// objective it asks for all losses of the step.
func (e *estimation) start(perturbations int) (base float64, err error) {
	forward := e.plan.Difference == wire.Forward
	if e.prober.batched != nil {
		if err := e.askStep(perturbations); err != nil {
			return 0, err
		}
	} else {
		e.measure(perturbations)
	}
	if !forward {
		return 0, nil
	}
	return e.at(0, 0, 0)
}

// difference returns the estimate of the derivative along z[p] and the loss near x:
// forward (f(x+mu z) - base)/mu and base, central (f(x+mu z) - f(x-mu z))/(2 mu) and
// the mean of the two. What a distribution makes of it, such as the sphere's factor d,
// is the replicas' part.
func (e *estimation) difference(base float64, p int) (d, mean float64, err error) {
	step := e.plan.Mu
	mu := float64(step)
	if e.plan.Difference == wire.Forward {
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
