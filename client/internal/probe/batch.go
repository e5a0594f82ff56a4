package probe

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/client/internal/isolate"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// UntoldBatch bounds the minibatch size for an objective that does not say how many samples it has.
const UntoldBatch = 1 << 16

// batchSize returns the size of a task's minibatches, or 0 for all of the device's data, as in the
// first phase of ZO-SVRG. The size is the plan's size, but at most the number of the objective's
// samples, and at most MaxBatch. batchSize limits the size because the coordinator chooses the
// plan, but the device needs the memory for a minibatch.
func (p *Prober) batchSize(ctx context.Context, pl *plan.Plan, t *Task) (int, error) {
	most := uint64(p.cfg.MaxBatch)
	whole := pl.Control == plan.SVRG && t.Phase == 1
	if pl.Batch == 0 || whole {
		return 0, nil
	}
	samples, err := p.samples(ctx)
	switch {
	case err != nil:
		return 0, err
	case samples > 0 && (most == 0 || most > uint64(samples)):
		most = uint64(samples)
	case most == 0:
		most = UntoldBatch
	}
	return int(min(uint64(pl.Batch), most)), nil
}

// samples returns how many samples the objective has; 0 or less: the objective does not say.
func (p *Prober) samples(ctx context.Context) (int, error) {
	sampler, ok := p.cfg.Objective.(objective.Sampler)
	if !ok {
		return 0, nil
	}
	n, err := isolate.Call(ctx, &p.calls, func() (int, error) { return sampler.Samples(), nil })
	if err != nil {
		return 0, fmt.Errorf("samples: %w", err)
	}
	return n, nil
}
