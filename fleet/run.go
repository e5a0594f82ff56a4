package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/fleet/traffic"
	"github.com/zofl/zofl/internal/memstore"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// patience is the timeout of requests. The timeout is long, because all devices share the cores of
// this machine.
const patience = time.Minute

// A run is a call of Run in progress.
type run struct {
	plan, original *plan.Plan // the changed copy, and the caller's plan
	options        Options
	objectives     []objective.Objective
	bus            *bus.Memory
	gate           *gate
	lead           *coordinator.Coordinator
	clients        []*client.Client
	witness        witness
	result         *Result
	best           *runlog.Best // nil: the plan has no Best
	losses         runlog.LossMean
	spared         uint64 // queries: where losses have no noise, no candidate is evaluated again
	starts         starts // of a run with restarts
	// beside are what few plans need after a round. ends says why the run ends; "": it does not.
	beside []func(*report.Event) (ends string, err error)
	round  Round     // the current round
	began  time.Time // of the round
}

// attend lists what the plan needs after a round besides.
func (r *run) attend() {
	p := r.plan
	if r.original.Best != "" {
		r.best = runlog.NewBest(r.original)
		r.beside = append(r.beside, r.judge)
	}
	if p.Restarts > 0 {
		r.beside = append(r.beside, r.keep)
	}
	if r.options.Queries > 0 && (p.Restarts > 0 || p.PerturbationsAuto > 0) {
		r.beside = append(r.beside, r.spent)
	}
}

// A gate is the coordinator's bus. Once the gate is shut, devices receive no further announcement.
type gate struct {
	*traffic.Meter
	shut   atomic.Bool
	last   string        // the last subject that a device needs to join
	listen chan struct{} // closed when the coordinator has subscribed to last
}

// Subscribe closes listen when the coordinator has made its last subscription. A device that sent a
// request earlier would have to wait and repeat the request.
func (g *gate) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	s, err := g.Meter.Subscribe(subject, handle)
	if subject == g.last {
		close(g.listen)
	}
	return s, err
}

func (g *gate) Publish(subject string, frame []byte) error {
	if g.shut.Load() {
		return nil
	}
	return g.Meter.Publish(subject, frame)
}

// assemble creates the coordinator and the clients.
func (r *run) assemble(ctx context.Context) (err error) {
	ids := make([]string, len(r.objectives))
	for i := range ids {
		ids[i] = fmt.Sprint("d", i)
	}
	if err = r.result.Log.AddMembers(ctx, ids); err != nil {
		return err
	}
	r.bus = bus.NewMemory()
	defer func() {
		if err != nil {
			r.bus.Close()
		}
	}()
	r.gate = &gate{Meter: traffic.New(r.bus, len(ids), r.plan),
		last: subjects.AllCatchUps(r.plan.Run), listen: make(chan struct{})}
	r.lead, err = coordinator.New(ctx, coordinator.Config{
		Bus: r.gate, Plan: r.plan, Log: r.result.Log, Recorder: report.RecorderFunc(r.record),
		Linger: -1, AppendTimeout: deadline, CatchUpPatience: patience - time.Second,
	})
	if err != nil {
		return err
	}
	r.witness.begin(r.plan, &r.options, r.result.Log)
	r.result.Devices = make([]Device, len(ids))
	for i, id := range ids {
		d := &r.result.Devices[i]
		d.ID = id
		cfg := client.Config{
			Bus: r.bus, Run: r.plan.Run, ID: id, Objective: r.objectives[i],
			Initial: r.options.Initial, RunKey: r.options.RunKey,
			Workers: 1, RequestTimeout: patience, RetryMax: time.Second,
			Recorder: client.RecorderFunc(d.record), NotStrict: true,
		}
		if noisy, _ := r.plan.Noisy(); noisy {
			cfg.Store = memstore.Store{}
		}
		c, err := client.New(cfg)
		if err != nil {
			return fmt.Errorf("device %d: %w", i, err)
		}
		r.clients = append(r.clients, c)
	}
	return nil
}

// record notes the progress of a device.
func (d *Device) record(p client.Progress) error {
	d.Queries, d.Gradients = p.Queries, p.Gradients
	switch {
	case p.Declined != 0:
		d.Err = p.Err
		d.Declined++
	case p.Contributed:
		d.Declined = 0
	}
	return nil
}

var errDone = errors.New("all devices saw the end")

// together runs the coordinator and the clients. together returns when all clients have seen the
// end of the run, when ctx ends, or when the coordinator or a client fails.
func (r *run) together(ctx context.Context) error {
	defer r.bus.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.began = time.Now()
	var clients, lead sync.WaitGroup
	lead.Go(func() {
		if err := r.lead.Run(ctx); err != nil {
			cancel(err)
		}
	})
	select {
	case <-r.gate.listen:
	case <-ctx.Done():
	}
	for i, c := range r.clients {
		clients.Go(func() {
			if err := c.Run(ctx); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("device %d: %w", i, err))
			}
		})
	}
	clients.Wait()
	cancel(errDone)
	lead.Wait()
	switch cause := context.Cause(ctx); {
	case cause == errDone:
		return r.agree()
	case errors.Is(cause, ErrStop):
		return nil
	case errors.Is(cause, ErrPaused), errors.Is(cause, ErrDiverged):
		return r.blame(cause)
	default:
		return cause
	}
}

// blame adds to an error the failure of a device, if any device failed, because this failure may be
// the cause.
func (r *run) blame(cause error) error {
	for _, d := range r.result.Devices {
		if d.Err != nil {
			return fmt.Errorf("%w; device %s: %w", cause, d.ID, d.Err)
		}
	}
	return cause
}

// record handles an event of the coordinator, on the coordinator's goroutine.
func (r *run) record(e report.Event) error {
	var err error
	switch e.Kind {
	case report.PhaseDone:
		r.count(&e, 1)
	case report.RoundDone:
		phase := uint8(0)
		if r.plan.Phases() == 2 {
			phase = 2
		}
		r.count(&e, phase)
		err = r.done(&e)
	case report.RolledBack:
		r.starts.close()
	case report.Changed:
		if slices.Contains(e.Fields, "perturbations_auto") {
			r.spared = uint64(r.plan.PerturbationsAuto)
		}
	case report.Surveyed:
		r.result.Found = append(r.result.Found, e.Survey)
		r.round.Queries += uint64(e.Contributors) * survey.Named(e.Survey.Kind).Queries(r.plan)
		if e.Survey.Kind == survey.Mu.String() {
			r.round.Mu = e.Survey.Value
		}
	case report.RunPaused:
		err = fmt.Errorf("%w: %s", ErrPaused, e.Reason)
		if reason, found := strings.CutPrefix(e.Reason, "diverged: "); found {
			err = fmt.Errorf("%w: %s", ErrDiverged, reason)
		}
	case report.RunEnded:
		r.result.Ended = e.End.Reason.String()
	}
	if err != nil {
		r.gate.shut.Store(true)
	}
	return err
}

// count adds the loss evaluations of a phase's contributors to the round.
func (r *run) count(e *report.Event, phase uint8) {
	queries := r.plan.PhaseQueries(phase, e.Perturbations) - r.spared
	r.round.Queries += uint64(e.Contributors) * queries
}

// done completes a round, and evaluates the model if the plan asks for that now.
func (r *run) done(e *report.Event) error {
	now, totals := time.Now(), r.gate.Totals()
	done := &r.round
	done.Round, done.Loss = e.Round, float64(e.Loss)
	done.Step, done.RoundStep = e.Step, e.RoundStep
	done.Perturbations, done.Contributors = e.Perturbations, e.Contributors
	done.Seconds = now.Sub(r.began).Seconds()
	done.Up, done.Down = totals.Up.Bytes, totals.Down.Bytes
	done.Bytes, done.Metrics, done.Evaluators = done.Up+done.Down, nil, 0
	stop, err := r.evaluate(e.N, e.Round == r.plan.Rounds)
	for _, take := range r.beside {
		ends, failed := take(e)
		stop, err = cmp.Or(stop, ends), errors.Join(err, failed)
	}
	r.result.Rounds = append(r.result.Rounds, *done)
	if err == nil && r.options.Progress != nil {
		err = r.options.Progress(*done)
	}
	r.began = time.Now()
	switch {
	case errors.Is(err, ErrStop):
		r.result.Ended = "stopped"
	case err == nil && stop != "":
		r.result.Ended, err = stop, ErrStop
	}
	return err
}
