package client

// denseVector sets the vector that a device sends in a run with dense transport,
// [wire.Plan.Object] elements: x after the round's local steps.
func (e *estimation) denseVector() error {
	est := &e.c.est
	est.vector = room(est.vector, int(e.plan.Object(e.phase)))
	e.vector = est.vector
	copy(e.vector, e.local.X)
	e.local.X = e.vector[:e.c.dim]
	for k := range e.steps {
		g := e.scalars[k*e.perturbations : (k+1)*e.perturbations]
		if err := e.step(e.n, k, g); err != nil {
			return err
		}
		e.c.replica.Advance(&e.local, e.n, k, g, e.eta)
	}
	return nil
}
