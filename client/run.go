package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
)

// Run takes part until the run ends, and then returns nil, or until ctx does,
// and then returns its cause. It can be called again after it returned; the
// client goes on from the record it had.
//
// Other errors are those that no waiting cures: [ErrRefused], [ErrRunning],
// [replica.ErrDim], [replica.ErrInitial], [wire.ErrRunKey], a *wire.PlanError,
// [wire.ErrUpgrade], [bus.ErrClosed], [bus.ErrPermission], and whatever Recorder
// returns. A store
// that fails, a state that differs from the run's and a snapshot that was wrong
// are none: see [Progress].Err.
//
// No goroutine outlives Run, except one whose callback has not returned. Whoever recovers
// a panic of Run may call it again: the client goes on from its last checkpoint.
func (c *Client) Run(ctx context.Context) error {
	if !c.start() {
		return fmt.Errorf("client: %w", ErrRunning)
	}
	defer c.stop()
	defer c.prober.Close()
	c.follower.Start()
	if err := c.open(); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	whole := false
	defer func() {
		if whole {
			c.keepAtEnd()
		} else {
			c.forgetAll()
		}
	}()
	err := c.takeParts(ctx)
	whole = true
	return err
}

// takeParts takes part until the run ends or an error that is final, and starts over
// where the log is not its own.
func (c *Client) takeParts(ctx context.Context) error {
	for {
		err := c.takePart(ctx)
		switch {
		case err == nil, ctx.Err() != nil && err == context.Cause(ctx):
			return err
		case !errors.Is(err, follow.ErrNotOurs):
			return fmt.Errorf("client: %w", err)
		}
		c.cfg.Logger.Error("starting over", "record", c.follower.N(), "err", err)
		if c.follower.N() < 2 { // again: two coordinators with two plans take turns
			if err := retry.Sleep(ctx, c.pauses.Jitter(c.cfg.RetryMax)); err != nil {
				return err
			}
		}
		c.reset()
		if err := c.report(Progress{State: Joining, Err: err}); err != nil {
			return fmt.Errorf("client: %w", err)
		}
	}
}

// Load reads what the Store has of an earlier process, as Run does when it begins, so
// that Params has the model before, or without, a connection. A store that
// has nothing, or nothing that can be used, is no error: the Recorder is told. The
// errors are [ErrRunning], [wire.ErrRunKey] and what Recorder returns.
func (c *Client) Load() error {
	if !c.start() {
		return fmt.Errorf("client: %w", ErrRunning)
	}
	defer c.stop()
	if err := c.open(); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	return nil
}

// keepAtEnd keeps what Run came to. What cannot be kept was said; nobody is told
// after Run.
func (c *Client) keepAtEnd() {
	c.follower.Rest()
	err := c.memory.save(c.follower.Replica())
	if err == nil {
		err = c.follower.Keep()
	}
	if err != nil {
		c.cfg.Logger.Error("last checkpoint", "err", err)
	}
}

// keepIfDue keeps a checkpoint, and what goes with it, when it is time.
func (c *Client) keepIfDue() error {
	if err := c.follower.KeepIfDue(); err != nil {
		return err
	}
	return c.memory.saveWith(c.follower.Attempts(), c.follower.Replica())
}

// open takes what an earlier process left in the store. It sets aside what cannot be used;
// the log has it all. The error is [wire.ErrRunKey] for a checkpoint of a run with another
// key, or the app's.
func (c *Client) open() error {
	if shared, ok := c.cfg.Store.(SharedStore); ok && shared.Changed() {
		c.forgetStore()
	}
	if !c.shelf.Keeps() || c.opened {
		return nil
	}
	for _, open := range []func() error{c.follower.Open, c.outbox.Open, c.loadSnapshot} {
		if err := open(); err != nil {
			return err
		}
	}
	c.opened = true
	return nil
}

// forgetStore forgets what another client of this device may have replaced in the store.
func (c *Client) forgetStore() {
	c.opened = false
	c.follower.Forget()
	c.outbox.Forget()
	c.prober.Memory().Forget()
	c.server.withdraw()
}

// forgetAll forgets a state that a panic may have left half-way, so that it is neither
// kept nor gone on from.
func (c *Client) forgetAll() {
	c.reset()
	if c.shelf.Keeps() { // else nobody has what this device contributed but itself
		c.forgetStore()
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
	c.follower.Reset()
	c.member.joined, c.evaluated = false, 0
	c.server.withdraw()
}

// takePart joins, listens and follows.
func (c *Client) takePart(ctx context.Context) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	if c.follower.Final() {
		return c.report(Progress{State: Ended})
	}
	c.inbox.take() // what came before is not what is open
	subject := wire.AnnounceSubject(c.cfg.Run, wire.Shard(c.cfg.ID, c.follower.Plan().Shards))
	sub, err := c.link.subscribe(ctx, subject, c.inbox.receive)
	if err != nil {
		return fmt.Errorf("announcements: %w", err)
	}
	defer sub.Unsubscribe()
	if c.serves() {
		c.server.setOpen(true)
		defer c.server.close()
		sub, err := c.link.subscribe(ctx, wire.AllSnapshots(c.cfg.Run), c.server.answer)
		if err != nil {
			return fmt.Errorf("snapshots: %w", err)
		}
		defer sub.Unsubscribe()
	}
	if done, err := c.look(ctx); done || err != nil {
		return err
	}
	if err := c.report(Progress{State: Waiting}); err != nil {
		return err
	}
	return c.listen(ctx, subject)
}

// enter gets what a client needs before it listens: the plan, and of a device
// its slot.
func (c *Client) enter(ctx context.Context) error {
	switch {
	case c.follower.Replica().Ended() != nil && !c.member.joined:
		return c.stillEnded(ctx)
	case c.cfg.Passive != nil:
		return c.begin(ctx)
	}
	return c.join(ctx)
}

// look asks where the run is, as what was announced before this client listened
// would come to it with the next repetition only.
func (c *Client) look(ctx context.Context) (done bool, err error) {
	if c.cfg.Passive != nil {
		return c.pull(ctx)
	}
	return false, c.askWhatIsOpen(ctx)
}

// listen follows what arrives until the run ends.
func (c *Client) listen(ctx context.Context, subject string) error {
	quiet := time.NewTimer(c.patience())
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.inbox.arrived:
			if done, err := c.follow(ctx, c.inbox.take()); done || err != nil {
				return err
			}
			if c.member.rejoinDue() {
				if done, err := c.look(ctx); done || err != nil {
					return err
				}
			}
		case <-quiet.C:
			// A connection that was closed tells nobody, unless asked.
			if err := c.link.check(ctx, subject); retry.Final(err) {
				return fmt.Errorf("announcements: %w", err)
			}
			if err := c.report(Progress{State: Waiting, Err: fmt.Errorf("%w: nothing was announced for a while", ErrQuiet)}); err != nil {
				return err
			}
			if done, err := c.look(ctx); done || err != nil {
				return err
			}
			if err := c.keepIfDue(); err != nil {
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
	if plan := c.follower.Plan(); plan != nil {
		often = max(often, time.Duration(plan.Reannounce)*time.Millisecond)
	}
	return 3*often + c.pauses.Jitter(often)
}
