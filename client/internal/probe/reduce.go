package probe

import "github.com/zofl/zofl/plan"

// reduces says whether the task's scalars are the differences of ZO-SVRG.
func (e *estimation) reduces() bool { return e.plan.Control == plan.SVRG && e.Phase == 2 }

// estimates returns at how many points the task estimates slopes: two in each local step of ZO-SVRG
// except the first, otherwise one in each.
func (t *Task) estimates(p *plan.Plan) int {
	if p.Control == plan.SVRG && t.Phase == 2 {
		return 2 * (t.Steps - 1)
	}
	return t.Steps
}

// changes sets g[p] to how the slope along direction p of local step k of record n differs at the
// local iterate from that at the round's x, on one minibatch:
//
//	g[p] = (f(x_k + mu z) - f(x_k))/mu - (f(x_0 + mu z) - f(x_0))/mu
//
// At step 0 both points are the same, so it makes no query. The loss is that near the round's x.
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
