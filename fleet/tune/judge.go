package tune

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"sync"

	"github.com/zofl/zofl/client/objective"
)

// judgeSeed, lineSeed and muSeed are numbers of minibatches that occur in no round. All trials use
// the same ones.
const (
	judgeSeed = 0
	lineSeed  = 1 << 16
	muSeed    = 2 << 16
)

// batch returns a minibatch of a device. The number draws the minibatch.
func (t *tuning) batch(device, number int) objective.Batch {
	h := fnv.New64a()
	for _, v := range []uint64{t.cfg.Seed, uint64(device), uint64(number)} {
		h.Write(binary.LittleEndian.AppendUint64(nil, v))
	}
	return objective.Batch{Step: number, Size: int(t.cfg.Plan.Batch), Seed: h.Sum64()}
}

// measureStart measures the loss of the first parameters.
func (t *tuning) measureStart(ctx context.Context) error {
	trial := t.settings("start", t.plan)
	trial.Queries = t.budget.judge
	loss, err := t.judge(ctx, t.x)
	if err != nil {
		if errors.Is(err, errNotFinite) {
			err = fmt.Errorf("%w: begin where it is finite, by segments or initial=given", err)
		}
		return fmt.Errorf("the loss of the first parameters: %w", err)
	}
	trial.Loss, t.result.Start = loss, loss
	t.note(trial)
	return nil
}

// judge returns the mean loss of all devices at x on fresh minibatches, and an error if one
// evaluation fails. judge takes budget.judge evaluations.
func (t *tuning) judge(ctx context.Context, x []float32) (float64, error) {
	t.spend(t.budget.judge)
	batches := int(t.budget.judge) / len(t.cfg.Devices)
	losses, err := t.each(ctx, func(ctx context.Context, i int) ([]float64, error) {
		sum := 0.0
		for k := range batches {
			loss, err := lossOf(ctx, t.cfg.Devices[i], x, t.batch(i, judgeSeed+k))
			if err != nil {
				return nil, err
			}
			sum += loss
		}
		return []float64{sum / float64(batches)}, nil
	})
	return mean(losses, 0), err
}

// spend subtracts n evaluations from the budget, and counts them in the result.
func (t *tuning) spend(n uint64) {
	t.budget.take(n)
	t.result.Queries += n
}

// mean returns the mean of column j over the devices.
func mean(rows [][]float64, j int) float64 {
	sum := 0.0
	for _, row := range rows {
		if j >= len(row) {
			return math.Inf(1)
		}
		sum += row[j]
	}
	return sum / float64(len(rows))
}

// each calls f for all devices, several at the same time. Row i of the result belongs to device i.
// The error comes from the first device that failed.
func (t *tuning) each(ctx context.Context,
	f func(ctx context.Context, device int) ([]float64, error)) ([][]float64, error) {
	rows, errs := make([][]float64, len(t.cfg.Devices)), make([]error, len(t.cfg.Devices))
	next := make(chan int, len(rows))
	for i := range rows {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(rows)) {
		workers.Go(func() {
			for i := range next {
				if rows[i], errs[i] = f(ctx, i); errs[i] != nil {
					errs[i] = fmt.Errorf("device %d: %w", i, errs[i])
				}
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return rows, context.Cause(ctx)
	}
	for _, err := range errs {
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

var errNotFinite = errors.New("the loss is not finite")

// lossOf evaluates a device's loss, whichever interface of package objective the device implements.
// lossOf turns a panic into an error, as a run does.
func lossOf(ctx context.Context, o objective.Objective, x []float32,
	b objective.Batch) (loss float64, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	switch o := o.(type) {
	case objective.Batched:
		losses := []float64{math.NaN()}
		err = o.LossesAt(ctx, objective.NewPoints(x), b, losses)
		loss = losses[0]
	case objective.Streaming:
		loss, err = o.LossAt(ctx, objective.NewPoint(x), b)
	case objective.Flat:
		// A loss may write to its argument.
		loss, err = o.Loss(ctx, append([]float32(nil), x...), b)
	default:
		return 0, fmt.Errorf("a %T has no loss", o)
	}
	if err == nil && !(math.Abs(loss) <= math.MaxFloat32) {
		err = fmt.Errorf("%w: %v", errNotFinite, loss)
	}
	return loss, err
}
