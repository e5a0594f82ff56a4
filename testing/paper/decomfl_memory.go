package paper

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
)

// A memoryCase is a device's way to be asked and to move.
type memoryCase struct {
	streaming bool // the loss reads blocks; else it takes a flat vector
	k         uint32
	momentum  bool
}

func (m memoryCase) String() string {
	way, rule := "flat", "SGD"
	if m.streaming {
		way = "block by block"
	}
	if m.momentum {
		rule = "momentum"
	}
	return fmt.Sprintf("%s, K=%d, %s", way, m.k, rule)
}

// vectors is how many of d floats the plan's price says that the device holds.
func (m memoryCase) vectors(p *wire.Plan) float64 {
	cost := p.Cost(wire.CostInput{})
	bytes := cost.Flat
	if m.streaming {
		bytes = cost.Streaming
	}
	return float64(bytes) / float64(4*p.Dim)
}

// decomflMemory is Table 4 of DeComFL, measured: the heap that coordinator and
// client hold after rounds, by how it grows with d. Buffers outlive a round, so what
// is held is what was used.
func decomflMemory() Experiment {
	return Experiment{
		ID: "decomfl-memory", Title: "memory of coordinator and client, in vectors of d",
		Paper: "DeComFL, appendix A.2 and Table 4", Long: "a minute",
		Run: func(ctx context.Context, e *Env) (*Report, error) {
			return memoryReport(ctx, e, 1<<19, 1<<21)
		},
	}
}

var memoryCases = []memoryCase{{true, 1, false}, {false, 1, false}, {true, 1, true}, {false, 1, true}, {true, 4, false}, {false, 4, true}}

func memoryReport(ctx context.Context, e *Env, small, large int) (*Report, error) {
	r := &Report{
		ID: "decomfl-memory", Table: Table{Columns: []string{"device", "d", "client_bytes", "coordinator_bytes"}},
		Figure: Figure{Title: "DeComFL: what a client holds", X: "d", Y: "bytes"},
	}
	server := 0.0
	var clients []float64
	var texts []string
	priced := true
	for _, m := range memoryCases {
		a, err := held(ctx, e, m, small, r)
		if err != nil {
			return r, err
		}
		b, err := held(ctx, e, m, large, r)
		if err != nil {
			return r, err
		}
		grown := 4 * float64(large-small)
		got := (b.client - a.client) / grown
		server = max(server, (b.coordinator-a.coordinator)/grown)
		clients = append(clients, got)
		priced = priced && got < b.priced+0.05
		texts = append(texts, fmt.Sprintf("%v: %.3f d, priced %.3f d", m, got, b.priced))
		r.Figure.Series = append(r.Figure.Series, Series{Name: m.String(), X: []float64{float64(small), float64(large)}, Y: []float64{a.client, b.client}})
	}
	r.claim(server < 0.001, "the server's memory is negligible, FedZO's 2d", "%.6f d at most", server)
	r.claim(clients[0] < 1.05, "a client's memory is about d, FedZO's 3d", "%.3f d where the loss reads block by block", clients[0])
	r.claim(priced, "no client holds more than its plan's price says", "%s", strings.Join(texts, "; "))
	return r, nil
}

// A holding is the heap that parties hold, in bytes, and the client's price in d.
type holding struct{ client, coordinator, priced float64 }

// held runs a coordinator and one client for three rounds and weighs them.
func held(ctx context.Context, e *Env, m memoryCase, dim int, r *Report) (h holding, err error) {
	e.logf("decomfl-memory: %v, d=%d", m, dim)
	p, err := run.Plan("decomfl", "memory", 1, dim, 1, 1)
	if err != nil {
		return h, err
	}
	p.Rounds, p.Steps, p.Perturbations, p.Diverge = 3, m.k, 2, 0
	if m.momentum {
		p.Rule, p.Beta = wire.TorchMomentum, 0.9
	}
	h.priced = m.vectors(p)
	c, lead, err := pair(ctx, m, p)
	if err != nil {
		return h, err
	}
	both := heap()
	runtime.KeepAlive(c)
	c = nil
	without := heap()
	runtime.KeepAlive(lead)
	lead = nil
	h.client, h.coordinator = both-without, without-heap()
	r.Table.Add(m, dim, int64(h.client), int64(h.coordinator))
	return h, nil
}

// heap returns the bytes of the heap that somebody holds.
func heap() float64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools let go
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc)
}

// pair runs a coordinator and a client until the end.
func pair(ctx context.Context, m memoryCase, p *wire.Plan) (*client.Client, *coordinator.Coordinator, error) {
	memory := bus.NewMemory()
	defer memory.Close()
	lead, err := coordinator.New(ctx, coordinator.Config{Bus: memory, Plan: p, Log: &coordinator.MemoryLog{}, Linger: -1})
	if err != nil {
		return nil, nil, err
	}
	c, err := client.New(client.Config{
		Bus: memory, Run: p.Run, ID: "c0", Objective: m.objective(int(p.Dim)), Workers: 1, RetryMax: 100 * time.Millisecond,
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
func (m memoryCase) objective(dim int) client.Objective {
	if !m.streaming {
		return client.Func(dim, func(_ context.Context, x []float32, _ client.Batch) (float64, error) {
			return squares(x) / float64(dim), nil
		})
	}
	block := make([]float32, 4096)
	return client.Stream(dim, func(_ context.Context, x *client.Point, _ client.Batch) (float64, error) {
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
