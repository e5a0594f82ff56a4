package run

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/fleet/traffic"
	"github.com/zofl/zofl/internal/memstore"
	"github.com/zofl/zofl/plan"
)

// patience is the time limit for a request. The limit is long, because some clients join while
// others train on the same cores.
const patience = time.Minute

// A device is a client's objective: the loss on samples of the client's own share.
type device struct {
	task    *Task
	batches picker
	share   []int // its samples
}

func (d *device) Dim() int { return d.task.Dim }

// Loss implements [objective.Flat].
func (d *device) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	samples := d.batches.pick(b)
	if d.task.Asked != nil {
		d.task.Asked(x, samples, b)
	}
	return d.task.Loss(x, samples), nil
}

// A gradientDevice is a device that has the gradient of its loss.
type gradientDevice struct{ *device }

// Gradient implements [objective.Differentiable].
func (d gradientDevice) Gradient(_ context.Context, x []float32, b objective.Batch,
	g []float32) (float64, error) {
	samples := d.batches.pick(b)
	if d.task.Asked != nil {
		d.task.Asked(x, samples, b)
	}
	clear(g)
	return d.task.Gradient(g, x, samples), nil
}

// A countedDevice and a countedGradientDevice tell the number of their samples, for plans that
// weight clients by samples. In other plans, this number would limit the size of their
// minibatches.
type (
	countedDevice         struct{ *device }
	countedGradientDevice struct{ gradientDevice }
)

// Samples implements [objective.Sampler].
func (d countedDevice) Samples() int { return len(d.share) }

// Samples implements [objective.Sampler].
func (d countedGradientDevice) Samples() int { return len(d.share) }

// objective returns the objective of a client that has taken this many minibatches.
func (c *Config) objective(slot int, taken uint64) objective.Objective {
	d := &device{&c.Task, c.Order.picker(c.Shares[slot], taken), c.Shares[slot]}
	gradients := c.Differentiates != nil && c.Differentiates(slot)
	switch counts := c.Plan.Weights == plan.BySamples; {
	case gradients && counts:
		return countedGradientDevice{gradientDevice{d}}
	case gradients:
		return gradientDevice{d}
	case counts:
		return countedDevice{d}
	}
	return d
}

// ids returns the clients' ids by slot.
func ids(clients int) []string {
	names := make([]string, clients)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	return names
}

// A fleet is a coordinator and its clients.
type fleet struct {
	cfg     *Config
	bus     *bus.Memory
	meter   *traffic.Meter
	lead    *coordinator.Coordinator
	clients []*client.Client
}

// An ear wraps the coordinator's bus, and passes each received message to a callback as well.
type ear struct {
	bus.Bus
	heard func(slot int, frame []byte)
}

// Subscribe implements [bus.Bus].
func (e *ear) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	return e.Bus.Subscribe(subject, func(m bus.Message) {
		part := strings.Split(m.Subject, ".")
		slot, err := strconv.Atoi(strings.TrimPrefix(part[len(part)-1], "c"))
		if m.Reply == "" && err == nil {
			e.heard(slot, m.Data)
		}
		handle(m)
	})
}

// assemble makes a fleet that continues a log. taken is the number of minibatches that each
// client has taken.
func assemble(ctx context.Context, cfg *Config, log runlog.Log, taken []uint64,
	r report.Recorder) (*fleet, error) {
	f := &fleet{cfg: cfg, bus: bus.NewMemory()}
	f.meter = traffic.New(f.bus, len(cfg.Shares), cfg.Plan)
	lead := bus.Bus(f.meter)
	if cfg.Heard != nil {
		lead = &ear{Bus: f.meter, heard: cfg.Heard}
	}
	if cfg.Mix != nil {
		lead = &mixer{lead, cfg.Plan, len(cfg.Shares), cfg.Mix}
	}
	var err error
	f.lead, err = coordinator.New(ctx, coordinator.Config{
		Bus: lead, Plan: cfg.Plan, Log: log, Recorder: r,
		Linger: -1, CatchUpPatience: patience - time.Second,
	})
	for i, id := range ids(len(cfg.Shares)) {
		if err != nil {
			break
		}
		own := client.Config{
			Bus: f.bus, Run: cfg.Plan.Run, ID: id, RunKey: cfg.Secret,
			Objective: cfg.objective(i, taken[i]),
			// The clients run at the same time and share the cores, so each client has one worker.
			Workers: 1, RequestTimeout: patience, RetryMax: time.Second,
		}
		if noisy, _ := cfg.Plan.Noisy(); noisy {
			own.Store = memstore.Store{}
		}
		var c *client.Client
		c, err = client.New(own)
		f.clients = append(f.clients, c)
	}
	if err != nil {
		f.bus.Close()
		return nil, err
	}
	return f, nil
}

var errDone = errors.New("all clients saw the end")

// run runs the fleet until all clients have received the end of the run, ctx ends, or the
// coordinator or a client fails.
func (f *fleet) run(ctx context.Context) error {
	defer f.bus.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var clients, lead sync.WaitGroup
	lead.Go(func() {
		if err := f.lead.Run(ctx); err != nil {
			cancel(err)
		}
	})
	for _, c := range f.clients {
		clients.Go(func() {
			if err := c.Run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	clients.Wait()
	cancel(errDone)
	lead.Wait()
	if cause := context.Cause(ctx); cause != errDone {
		return cause
	}
	return nil
}

// agree returns an error unless all clients hold the state of record n.
func (f *fleet) agree(n uint64, digest [32]byte) error {
	for i, c := range f.clients {
		if at, d := c.Digest(); at != n || d != digest {
			return fmt.Errorf("client %d holds %x after record %d, the log says %x after %d: "+
				"please report this",
				i, d[:8], at, digest[:8], n)
		}
	}
	return nil
}
