package coordinator

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/keepalive"
	"github.com/zofl/zofl/coordinator/internal/leader"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
)

// ErrSecond: another coordinator leads this run from its own log, and has run for longer. The
// error's text names that coordinator. Stop one of the two coordinators for good: their logs are
// copies of one log that now hold different records.
var ErrSecond = errSecond() // "another coordinator already leads this run"

func errSecond() error { return leader.ErrSecond } // documentation shows no internal name

// lead makes the caller the log's coordinator. lead may wait long, and checks the connection
// meanwhile, because a log in JetStream needs the connection.
func lead(ctx context.Context, cfg *Config) (epoch uint64, err error) {
	waiting, quit := context.WithCancel(ctx)
	var done sync.WaitGroup
	if _, ok := cfg.Bus.(bus.Reconnector); ok {
		done.Go(func() {
			p := keepalive.Checker{Bus: cfg.Bus, Logger: cfg.Logger, Subject: "zo",
				Every: func() time.Duration { return plan.DefaultReannounce }}
			p.Run(waiting)
		})
	}
	defer done.Wait()
	defer quit()
	return cfg.Log.Begin(ctx)
}

// alone returns an error that matches [ErrSecond] if an older coordinator of the run answers. If
// none answers, alone begins to listen for other coordinators.
func (c *Coordinator) alone(ctx context.Context) error {
	if c.seniority == nil {
		return nil
	}
	switch err := c.seniority.Ask(ctx); {
	case errors.Is(err, bus.ErrPermission):
		c.cfg.Logger.Warn("cannot look for other coordinators of this run: permit this one to publish "+
			"and subscribe the subject", "subject", subjects.Lead(c.run), "err", err)
		c.seniority = nil
		return nil
	case err != nil:
		return err
	}
	sub, err := c.seniority.Listen()
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.subs = append(c.subs, sub)
	c.mu.Unlock()
	return nil
}

// serve starts the services that run beside the loop, until stop is called.
func (c *Coordinator) serve(ctx context.Context, stepDown func(error)) (stop func()) {
	ctx, quit := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { c.catchUps.Serve(ctx) })
	if c.objects != nil {
		done.Go(func() { c.objects.Serve(ctx) })
	}
	if c.snapshots != nil {
		done.Go(func() { c.snapshots.Serve(ctx) })
	}
	if _, ok := c.cfg.Bus.(bus.Reconnector); ok {
		done.Go(func() {
			p := keepalive.Checker{Bus: c.cfg.Bus, Logger: c.cfg.Logger,
				Subject: subjects.Announce(c.run, 0), Every: c.interval, Denied: stepDown}
			p.Run(ctx)
		})
	}
	if c.seniority != nil {
		done.Go(func() { c.seniority.Watch(ctx, c.interval, stepDown) })
	}
	return func() {
		quit()
		done.Wait()
	}
}

// interval is the time between two checks of the connection and of other coordinators.
func (c *Coordinator) interval() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return keepalive.Interval(c.core.Plan.Reannounce)
}
