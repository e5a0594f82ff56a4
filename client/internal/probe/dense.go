package probe

import (
	"fmt"

	"github.com/zofl/zofl/plan"
)

// vectorToSend computes the vector that the device sends with transport=dense, of
// [plan.Plan.Object] elements, and the loss that goes with it.
func (e *estimation) vectorToSend() error {
	b := &e.prober.buffers
	e.vector = room(b.vector, int(e.plan.Object(e.Phase)))
	b.vector = e.vector
	own, err := e.phaseVector()
	if err != nil {
		return err
	}
	if err := sendable(e.vector, e.plan); err != nil {
		return err // return before the memory keeps the vector
	}
	if len(own) > 0 {
		e.prober.memory.own.put(e.N, own)
	}
	return nil
}

// phaseVector does the work of a phase. own is the part of the vector that the device's memory
// keeps: the control variate c_i or the surrogate's weights w_i.
func (e *estimation) phaseVector() (own []float32, err error) {
	switch surrogate := e.plan.Estimator == plan.Surrogate; {
	case surrogate && e.Phase == 2:
		return e.vector, e.queryAround()
	case surrogate:
		return nil, e.surrogateSteps()
	case e.Phase == 1 && e.plan.Control == plan.SVRG:
		return nil, e.firstPoint()
	case e.Phase == 1:
		return e.vector, e.firstPoint()
	}
	return e.vector[e.prober.dim:], e.localSteps()
}

// sendable checks a vector against the plan's limit, as the coordinator does.
func sendable(v []float32, plan *plan.Plan) error {
	for i, e := range v {
		if !(abs(e) <= plan.MaxScalar) {
			return fmt.Errorf("%w: element %d of the vector is %v, max_scalar is %v",
				ErrTooLarge, i, e, plan.MaxScalar)
		}
	}
	return nil
}
