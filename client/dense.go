package client

import "github.com/zofl/zofl/wire"

// A denseWorker is what outlives a round of a run with dense transport: buffers, and
// what the device remembers of earlier rounds.
type denseWorker struct {
	vector     []float32 // what is sent
	stepper    localStepper
	of         wire.Hash   // of the plan that own and trajectory are of
	own        ownVector   // c_i or w_i
	trajectory *trajectory // nil: none yet
	told       bool        // that something is lost
	fault      error       // of the Recorder, for Run
}

// An ownVector is what a device found and others have the mean of.
type ownVector struct {
	n     uint64 // record that it was found for, 0: there is none
	v     []float32
	fresh bool // the store does not have it
}

// put replaces the vector by a copy of v.
func (o *ownVector) put(n uint64, v []float32) {
	o.v = append(o.v[:0], v...)
	o.n, o.fresh = n, true
}

// denseVector sets the vector that a device sends in a run with dense transport, of
// [wire.Plan.Object] elements, and the loss that goes with it.
func (e *estimation) denseVector() error {
	est := &e.c.est.dense
	e.vector = room(est.vector, int(e.plan.Object(e.phase)))
	est.vector = e.vector
	own, err := e.denseWork()
	if err != nil {
		return err
	}
	if err := sendable(e.vector, e.plan); err != nil {
		return err // and not to be remembered, either
	}
	if len(own) > 0 {
		est.own.put(e.n, own)
	}
	return nil
}

// denseWork is the work of a phase. own is the part of the vector that the device
// remembers as its own: c_i or w_i.
func (e *estimation) denseWork() (own []float32, err error) {
	switch surrogate := e.plan.Estimator == wire.Surrogate; {
	case surrogate && e.phase == 2:
		return e.vector, e.queryAround()
	case surrogate:
		return nil, e.surrogateSteps()
	case e.phase == 1:
		return e.vector, e.firstPoint()
	}
	return e.vector[e.c.dim:], e.localSteps()
}
