package probe

import "github.com/zofl/zofl/plan"

// reduces says whether the task's scalars are the differences of ZO-SVRG.
func (e *estimation) reduces() bool { return e.plan.Control == plan.SVRG && e.Phase == 2 }

// estimates returns how often the task estimates slopes at a point: twice in each local step of
// ZO-SVRG except the first, otherwise once in each step.
func (t *Task) estimates(p *plan.Plan) int {
	if p.Control == plan.SVRG && t.Phase == 2 {
		return 2 * (t.Steps - 1)
	}
	return t.Steps
}

// changes sets g[p] to a difference of two slopes along direction p of local step k of record n, on
// one minibatch: the slope at the local iterate minus the slope at the round's x.
//
//	g[p] = (f(x_k + mu z) - f(x_k))/mu - (f(x_0 + mu z) - f(x_0))/mu
//
// At step 0 both points are the same, so changes makes no query. The loss that changes returns is
// the mean near the round's x.
func (e *estimation) changes(n uint64, k int, g []float32) (loss float64, err error) {
	if clear(g); k == 0 {
		return 0, nil
	}
	b, iterate := &e.prober.buffers, e.local.X
	b.reference = room(b.reference, len(g))
	e.local.X = e.replica.Params()
	loss, err = e.slopes(n, k, b.reference)
	if e.local.X = iterate; err != nil {
		return 0, err
	}
	if _, err := e.slopes(n, k, g); err != nil {
		return 0, err
	}
	for p, s := range b.reference {
		g[p] -= s
	}
	return loss, nil
}
