package device

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
)

// pair runs a coordinator and a client until the end.
func pair(ctx context.Context, m memoryCase, p *plan.Plan) (*client.Client,
	*coordinator.Coordinator, error) {
	memory := bus.NewMemory()
	defer memory.Close()
	lead, err := coordinator.New(ctx,
		coordinator.Config{Bus: memory, Plan: p, Log: &runlog.Memory{}, Linger: -1})
	if err != nil {
		return nil, nil, err
	}
	c, err := client.New(client.Config{
		Bus: memory, Run: p.Run, ID: "c0", Objective: m.objective(int(p.Dim)), Workers: 1,
		RetryMax: 100 * time.Millisecond,
	})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var leading sync.WaitGroup
	leading.Go(func() {
		if err := lead.Run(ctx); err != nil {
			cancel(err)
		}
	})
	err = c.Run(ctx)
	cancel(errThere)
	leading.Wait()
	if err != nil && !errors.Is(err, errThere) {
		return nil, nil, err
	}
	return c, lead, nil
}

// objective is the mean of squares.
func (m memoryCase) objective(dim int) objective.Objective {
	if !m.streaming {
		return objective.Func(dim,
			func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
				return squares(x) / float64(dim), nil
			})
	}
	block := make([]float32, 4096)
	return objective.Stream(dim,
		func(_ context.Context, x *objective.Point, _ objective.Batch) (float64, error) {
			sum := 0.0
			for off := 0; off < dim; off += len(block) {
				b := block[:min(len(block), dim-off)]
				if err := x.Read(b, off); err != nil {
					return 0, err
				}
				sum += squares(b)
			}
			return sum / float64(dim), nil
		})
}

func squares(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}
