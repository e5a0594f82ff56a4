package probe

// learn asks for the losses at vectors and adds the finite ones to the points. They are
// queries first, first+1, ... of the step. It returns the loss at the first vector.
func (e *estimation) learn(first int, xs [][]float32) (loss float64, err error) {
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
