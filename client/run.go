package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
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
	c.keeper.at = time.Now()
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
		case !errors.Is(err, errNotOurs):
			return fmt.Errorf("client: %w", err)
		}
		c.cfg.Logger.Error("starting over", "record", c.replica.N(), "err", err)
		if c.replica.N() < 2 { // again: two coordinators with two plans take turns
			if err := sleep(ctx, c.jitter(c.cfg.RetryMax)); err != nil {
				return err
			}
		}
		c.reset()
		if err := c.record(Progress{State: Joining, Err: err}); err != nil {
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
	c.snapshots.download = nil
	if err := c.keep(); err != nil {
		c.cfg.Logger.Error("last checkpoint", "err", err)
	}
}

// forgetAll forgets a state that a panic may have left half-way, so that it is neither
// kept nor gone on from.
func (c *Client) forgetAll() {
	c.batch = batch{}
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
	c.replace(c.blank())
	c.epoch, c.last, c.ignored = 0, 0, 0
	c.joined, c.unproven = false, 0
	c.keeper.kept, c.keeper.tried = mark{}, 0
	c.evaluate, c.course = evaluation{}, course{}
	c.digests, c.repair, c.snapshots = digests{}, repair{}, snapshots{}
	c.objects = objects{}
	c.server.withdraw()
}

// takePart joins, listens and follows.
func (c *Client) takePart(ctx context.Context) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	if c.replica.Ended() != nil && c.unproven == 0 && c.whole() {
		return c.record(Progress{State: Ended})
	}
	c.inbox.take() // what came before is not what is open
	subject := wire.AnnounceSubject(c.cfg.Run, c.shard())
	sub, err := c.subscribe(ctx, subject, c.inbox.receive)
	if err != nil {
		return fmt.Errorf("announcements: %w", err)
	}
	defer sub.Unsubscribe()
	if p := c.cfg.Passive; p != nil && p.SnapshotEvery > 0 {
		c.server.setOpen(true)
		defer c.server.close()
		sub, err := c.subscribe(ctx, wire.AllSnapshots(c.cfg.Run), c.server.answer)
		if err != nil {
			return fmt.Errorf("snapshots: %w", err)
		}
		defer sub.Unsubscribe()
	}
	if done, err := c.look(ctx); done || err != nil {
		return err
	}
	if err := c.record(Progress{State: Waiting}); err != nil {
		return err
	}
	return c.listen(ctx, subject)
}

// enter gets what a client needs before it listens: the plan, and of a device
// its slot.
func (c *Client) enter(ctx context.Context) error {
	switch {
	case c.replica.Ended() != nil && !c.joined:
		return c.stillEnded(ctx)
	case c.cfg.Passive != nil:
		return c.begin(ctx)
	}
	return c.join(ctx)
}

// subscribe subscribes and asks whether the server lets it.
func (c *Client) subscribe(ctx context.Context, subject string, handle func(bus.Message)) (bus.Subscription, error) {
	sub, err := c.cfg.Bus.Subscribe(subject, handle)
	if err != nil {
		return nil, err
	}
	if err := c.check(ctx, subject); fatal(err) {
		sub.Unsubscribe()
		return nil, err
	}
	return sub, nil
}

// look asks where the run is, as what was announced before this client listened
// would come to it with the next repetition only.
func (c *Client) look(ctx context.Context) (done bool, err error) {
	if c.cfg.Passive != nil {
		return c.pull(ctx)
	}
	return false, c.askWhatIsOpen(ctx)
}

// ErrQuiet: nobody leads the run, as far as this device hears: no coordinator
// answers, or none announced anything for a while. It comes in Progress.Err; Run goes
// on asking.
var ErrQuiet = errors.New("no word of a coordinator")

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
			if c.rejoinDue() {
				if done, err := c.look(ctx); done || err != nil {
					return err
				}
			}
		case <-quiet.C:
			// A connection that was closed tells nobody, unless asked.
			if err := c.check(ctx, subject); fatal(err) {
				return fmt.Errorf("announcements: %w", err)
			}
			if err := c.record(Progress{State: Waiting, Err: fmt.Errorf("%w: nothing was announced for a while", ErrQuiet)}); err != nil {
				return err
			}
			if done, err := c.look(ctx); done || err != nil {
				return err
			}
			if err := c.keepIfDue(false); err != nil {
				return err
			}
		}
		quiet.Reset(c.patience())
	}
}

// rejoinDue says, once, that it is time to ask for the slot again: another
// coordinator leads, which may have lost the members with its log's tail, and
// only silence would make this device ask otherwise.
func (c *Client) rejoinDue() bool {
	due := !c.rejoinAt.IsZero() && !time.Now().Before(c.rejoinAt)
	if due {
		c.rejoinAt = time.Time{}
	}
	return due
}

// patience is how long nothing has to be announced to be worth a question. It
// varies, so that the devices of a quiet run do not ask in step.
func (c *Client) patience() time.Duration {
	often := c.cfg.RequestTimeout
	if plan := c.replica.Plan(); plan != nil {
		often = max(often, time.Duration(plan.Reannounce)*time.Millisecond)
	}
	return 3*often + c.jitter(often)
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
