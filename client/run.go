package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/internal/subjects"
)

// Run takes part in the run. Run returns nil when the run ends, and the cause of ctx when ctx ends.
// Call Run again to continue from the last record that the client applied.
//
// Waiting does not cure the other errors of Run: [ErrArithmetic], [ErrLoss], [ErrRefused],
// [ErrRunning], [replica.ErrDim], [replica.ErrInitial], [plan.ErrRunKey], a *[plan.Error],
// [ErrPlan], [wire.ErrUpgrade], [bus.ErrClosed], [bus.ErrPermission], [bus.ErrSubscriptions],
// [replica.ErrForeign] for a Store with the state of another run or model, and the errors of
// Recorder. Run goes on after a store fails, a state differs from the run's, or a snapshot is
// wrong: see [Progress].Err.
//
// Without [Config].Coordinator, anybody may have sent what leads to [ErrRefused], [wire.ErrUpgrade]
// or a plan that this device cannot run. So Run returns such an error only when the same answer
// came ten times over three minutes, with no good answer in between. A device without a state
// believes a refusal, or a plan that it cannot run, after three answers.
//
// When Run returns before the run ends, the client sends a goodbye: rounds then no longer wait for
// this device. The device keeps its slot.
//
// When Run returns, all its goroutines have ended, except one in a callback that has not returned.
// An app that recovers a panic of Run may call Run again: the client goes on from its last
// checkpoint.
func (c *Client) Run(ctx context.Context) error {
	if !sound() {
		return fmt.Errorf("client: %w", ErrArithmetic)
	}
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
	err := c.takePart(ctx)
	whole = true
	switch {
	case err != nil:
		c.leave(ctx)
	case c.link.Holds():
		c.tellRest(ctx)
	}
	return err
}

// Variables, because the compiler computes with constants.
var leastNormal, one, tiny float32 = 0x1p-126, 1, 0x1p-30

// sound reports whether this thread computes as the specification says: it keeps subnormal
// numbers, and rounds to nearest. A library in C that was linked with -ffast-math has its process
// flush them to zero, and Go's threads with it.
func sound() bool {
	return leastNormal/2+leastNormal/2 == leastNormal && one+tiny == one && one-tiny == one
}

// takePart takes part until the run ends or an error is final. If the log does not hold the
// replica's last record, takePart starts over.
func (c *Client) takePart(ctx context.Context) error {
	for {
		err := c.follow(ctx)
		switch {
		case err == nil, ctx.Err() != nil && err == context.Cause(ctx):
			return err
		case retry.Claimed(err):
			if err := c.askAgain(ctx, err); err != nil {
				return err
			}
			continue
		case !errors.Is(err, follow.ErrNotOurs):
			return fmt.Errorf("client: %w", err)
		}
		c.cfg.Logger.Error("starting over", "record", c.follower.N(), "err", err)
		// Two coordinators with two plans may alternate: do not start over each time.
		if c.follower.N() < 2 {
			if err := retry.Sleep(ctx, c.pauses.Jitter(c.cfg.RetryMax)); err != nil {
				return err
			}
		}
		if rest := c.follower.Rest(); rest > 0 {
			if err := retry.Sleep(ctx, rest); err != nil {
				return err
			}
		}
		if err := c.goBack(ctx); err != nil {
			return fmt.Errorf("client: %w", err)
		}
		if err := c.tell(Progress{State: Joining, Err: err}); err != nil {
			return fmt.Errorf("client: %w", err)
		}
	}
}

// askAgain waits after an answer that kept this device from entering the run. askAgain returns the
// error that ends Run, if the device believes the answer.
func (c *Client) askAgain(ctx context.Context, claim error) error {
	doubt := &c.member.doubt
	final := c.judge(ctx, claim, doubt)
	if final == nil {
		c.cfg.Logger.Info("not joined yet", "err", claim)
		final = c.tell(Progress{State: Joining, Err: claim})
	}
	if final != nil {
		return fmt.Errorf("client: %w", final)
	}
	return retry.Sleep(ctx, c.pauses.Jitter(doubt.Pause(c.pauses)))
}

// goBack leaves a state that the log does not hold. goBack returns to the checkpoint if the log
// holds the checkpoint's record, and otherwise to no state. goBack keeps a copy of the old state in
// the store.
func (c *Client) goBack(ctx context.Context) error {
	if err := c.follower.KeepBefore(); err != nil {
		return err
	}
	retreats, err := c.follower.Retreat(ctx)
	switch {
	case err != nil:
		return err
	case !retreats:
		c.reset()
		return nil
	}
	c.cfg.Logger.Warn("going back to the checkpoint", "record", c.follower.N())
	c.forgetPlace()
	return nil
}

// Load loads the state that an earlier process left in the Store, as Run does when it begins. After
// Load, Params returns the model without a connection. An empty store is no error. A damaged item
// is no error, either: Load reports it to the Recorder. The errors are [ErrRunning],
// [plan.ErrRunKey], [replica.ErrForeign] and the errors of Recorder.
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

// keepAtEnd saves the memory and a checkpoint when Run ends. keepAtEnd only logs its errors,
// because Run already has its result.
func (c *Client) keepAtEnd() {
	c.follower.FreeDownload()
	if c.files == nil {
		return
	}
	err := c.memory.save(c.follower.Replica())
	if err == nil {
		err = c.follower.Keep()
	}
	if err != nil {
		c.cfg.Logger.Error("last checkpoint", "err", err)
	}
}

// keepIfDue saves a checkpoint and the memory when a checkpoint is due.
func (c *Client) keepIfDue() error {
	if c.files == nil {
		return nil
	}
	if err := c.follower.KeepIfDue(); err != nil {
		return err
	}
	return c.memory.saveWith(c.follower.Attempts(), c.follower.Replica())
}

// open loads the items that an earlier process left in the store. open sets damaged items aside,
// because the log has all that they held. The error is the Recorder's, [plan.ErrRunKey] for a
// checkpoint made with another key, or [replica.ErrForeign] for a checkpoint of another run or
// model.
func (c *Client) open() error {
	if c.files == nil {
		return nil
	}
	if shared, ok := c.cfg.Store.(SharedStore); ok && shared.Changed() {
		c.forgetStore()
	}
	if c.loaded {
		return nil
	}
	for _, load := range []func() error{c.follower.Open, c.outbox.Open, c.loadSnapshot} {
		if err := load(); err != nil {
			return err
		}
	}
	c.loaded = true
	return nil
}

// forgetStore drops what this client knows about the store, because another client of this device
// may have changed the store.
func (c *Client) forgetStore() {
	c.loaded = false
	c.follower.Forget()
	c.outbox.Forget()
	c.prober.Memory().Forget()
	c.server.withdraw()
}

// forgetAll drops a state that a panic may have left inconsistent. So the client neither saves that
// state nor goes on from it.
func (c *Client) forgetAll() {
	c.reset()
	if c.files != nil { // without a store, only the process's memory holds this device's contribution
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

// reset drops the log, and which of its states the client reported. reset keeps the last reply: the
// reply names its own state, and so stays valid.
func (c *Client) reset() {
	c.follower.Reset()
	c.forgetPlace()
}

// forgetPlace drops the device's place in the run, but not the state.
func (c *Client) forgetPlace() {
	c.member.joined, c.evaluated = false, 0
	c.server.withdraw()
}

// A step is a part of a session. An error of a step ends the session.
type step func(*Client, context.Context) (next, error)

// next is what follows a step.
type next struct {
	Progress               // for the Recorder, if tells
	tells    bool          // whether there is progress to tell
	wait     time.Duration // before the next step
	then     step          // nil: there is no more to do
}

// goOn returns the next step of a step that has nothing to tell.
func goOn(then step) (next, error) { return next{then: then}, nil }

// telling returns the next step of a step that has something to tell.
func telling(p Progress, then step) (next, error) {
	return next{Progress: p, tells: true, then: then}, nil
}

// take takes steps until there is no more to do, and tells the Recorder the progress that each step
// returns.
func (c *Client) take(ctx context.Context, first step) (err error) {
	for at := (next{then: first}); at.then != nil && err == nil; {
		if at, err = at.then(c, ctx); err == nil && at.tells {
			err = c.tell(at.Progress)
		}
		if err == nil && at.wait > 0 {
			err = retry.Sleep(ctx, at.wait)
		}
	}
	return err
}

// A session is the time that a client follows one log without a break.
type session struct {
	pause    time.Duration // the longest pause before the next question to a silent coordinator
	listener *listener
	queue    []arrival // announcements that wait until the client follows them
	newest   *arrival  // the last announcement whose head the replica reached
	silence  error     // why the device asks, if nothing was announced for a while
	waits    string    // for whom round 1 waits, as this device said last
}

// follow joins, subscribes and follows, for one session.
func (c *Client) follow(ctx context.Context) error {
	c.session = session{pause: c.pauses.First()}
	if err := c.take(ctx, (*Client).enter); err != nil {
		return err
	}
	if c.follower.Final() {
		return c.tell(Progress{State: Ended})
	}
	c.inbox.take() // earlier announcements are outdated
	subject := subjects.Announce(c.cfg.Run, subjects.Shard(c.cfg.ID, c.follower.Plan().Shards))
	l := c.newListener(subject)
	c.session.listener = l
	if err := l.open(ctx); err != nil {
		return err
	}
	defer l.close()
	c.keepalive.set(c.follower.Plan())
	defer c.keepalive.start(ctx, subject)()
	if c.serves() {
		c.server.setOpen(true)
		defer c.server.close()
		sub, err := c.link.Subscribe(ctx, subjects.AllSnapshots(c.cfg.Run), c.server.answer)
		if err != nil {
			return fmt.Errorf("snapshots: %w", err)
		}
		defer sub.Unsubscribe()
	}
	return c.take(ctx, (*Client).arrive)
}

// arrive is the first step of a client that has subscribed.
func (c *Client) arrive(context.Context) (next, error) {
	return telling(waiting(nil), (*Client).look)
}
