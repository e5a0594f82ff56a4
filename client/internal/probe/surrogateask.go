package probe

// measure evaluates the losses at vectors, which are queries first, first+1, ... of the step, and
// adds them to the trajectory. measure stops at a loss that is not finite, and returns the loss at
// the first vector.
func (e *estimation) measure(first int, xs [][]float32) (loss float64, err error) {
	e.points = len(xs)
	if e.prober.batched != nil {
		if err := e.askAll(e.prober.source.vectors(xs), first); err != nil {
			return 0, err
		}
	}
	for i, x := range xs {
		y, err := e.atVector(x, i, first+i)
		if err != nil {
			return 0, err
		}
		e.prober.memory.trajectory.add(x, y)
		if i == 0 {
			loss = y
		}
	}
	return loss, e.cancelled()
}
