package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// Run takes part until the run ends, and then returns nil, or until ctx does,
// and then returns its cause. It can be called again after it returned; the
// client goes on from the record it had.
//
// Other errors are those that no waiting cures: [ErrRefused], [ErrRunning],
// [replica.ErrDim], [replica.ErrInitial], a *wire.PlanError, [wire.ErrUpgrade],
// [bus.ErrClosed], [bus.ErrPermission], and whatever Recorder returns.
//
// No goroutine outlives Run, except one whose callback has not returned.
func (c *Client) Run(ctx context.Context) error {
	if !c.start() {
		return fmt.Errorf("client: %w", ErrRunning)
	}
	defer c.stop()
	for {
		err := c.takePart(ctx)
		switch {
		case err == nil, ctx.Err() != nil && err == context.Cause(ctx):
			return err
		case !errors.Is(err, errNotOurs):
			return fmt.Errorf("client: %w", err)
		}
		c.cfg.Logger.Error("starting over", "record", c.replica.N(), "err", err)
		c.reset()
		if err := c.record(Progress{State: Joining, Err: err}); err != nil {
			return fmt.Errorf("client: %w", err)
		}
	}
}

func (c *Client) start() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return false
	}
	c.running = true
	return true
}

func (c *Client) stop() {
	c.mu.Lock()
	c.running = false
	c.mu.Unlock()
}

// reset forgets the log, and what was reported of its states. The last reply
// names the state that it was made from, so it stays true.
func (c *Client) reset() {
	c.replace(c.blank())
	c.epoch, c.last, c.ignored = 0, 0, 0
	c.evaluate, c.course = evaluation{}, course{}
}

// takePart joins, listens and follows.
func (c *Client) takePart(ctx context.Context) error {
	if err := c.join(ctx); err != nil {
		return err
	}
	if c.replica.Ended() != nil {
		return c.record(Progress{State: Ended})
	}
	c.inbox.take() // what came before is not what is open
	subject := wire.AnnounceSubject(c.cfg.Run, c.shard())
	sub, err := c.cfg.Bus.Subscribe(subject, c.inbox.receive)
	if err != nil {
		return fmt.Errorf("subscribe to announcements: %w", err)
	}
	defer sub.Unsubscribe()
	if err := c.check(ctx, subject); fatal(err) {
		return fmt.Errorf("announcements: %w", err)
	}
	if err := c.askWhatIsOpen(ctx); err != nil {
		return err
	}
	if err := c.record(Progress{State: Waiting}); err != nil {
		return err
	}
	return c.listen(ctx, subject)
}

// errQuiet: nothing was announced for a while, which has many causes: this
// device is offline, the coordinator is, or it waits for more devices, perhaps
// for this one: it may have lost its log.
var errQuiet = errors.New("no announcement for a while")

// listen follows what arrives until the run ends.
func (c *Client) listen(ctx context.Context, subject string) error {
	quiet := time.NewTimer(c.patience())
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.inbox.arrived:
			if done, err := c.follow(ctx); done || err != nil {
				return err
			}
		case <-quiet.C:
			// A connection that was closed tells nobody, unless asked.
			if err := c.check(ctx, subject); fatal(err) {
				return fmt.Errorf("announcements: %w", err)
			}
			if err := c.record(Progress{State: Waiting, Err: errQuiet}); err != nil {
				return err
			}
			if err := c.askWhatIsOpen(ctx); err != nil {
				return err
			}
		}
		quiet.Reset(c.patience())
	}
}

// patience is how long nothing has to be announced to be worth a question. It
// varies, so that the devices of a quiet run do not ask in step.
func (c *Client) patience() time.Duration {
	often := c.cfg.RequestTimeout
	if plan := c.replica.Plan(); plan != nil {
		often = max(often, time.Duration(plan.Reannounce)*time.Millisecond)
	}
	return 3*often + rand.N(often)
}

// check asks whether the server denies a subject that was just used. An error
// that is not fatal says that it could not be asked.
func (c *Client) check(ctx context.Context, subject string) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.RequestTimeout)
	defer cancel()
	return bus.Check(ctx, c.cfg.Bus, subject)
}

// fatal says whether an error means that this device cannot go on with the
// run, whatever comes next.
func fatal(err error) bool {
	for _, final := range []error{errRecorder, wire.ErrUpgrade, bus.ErrClosed, bus.ErrPermission} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

func (c *Client) shard() uint32 {
	return wire.Shard(c.cfg.ID, c.replica.Plan().Shards)
}
