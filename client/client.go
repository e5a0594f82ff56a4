package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// Errors of Run on which a caller may branch. Those listed with [Client.Run]
// come from other packages.
var (
	// ErrRefused: the coordinator does not let this device join; the text has
	// its reason.
	ErrRefused = errors.New("join refused")
	// ErrRunning: Run was called while it runs.
	ErrRunning = errors.New("already running")
)

// A Client is one device of a run.
//
// Invariants:
//  1. Only the goroutine of Run changes replica, and only under mu.
//  2. The app's callbacks run one at a time, and nothing that one which has
//     not returned may still touch is used until it does.
type Client struct {
	cfg     Config
	dim     int
	streams Streaming // nil for a flat objective
	inbox   *inbox
	calls   caller

	mu      sync.Mutex // guards replica against Params and Digest, and running
	replica *replica.Replica
	running bool

	// Owned by the goroutine of Run.
	slot     uint32
	epoch    uint64 // of the last announcement that was followed
	last     uint64 // last record of the log, as far as known
	ignored  int    // announcements in a row that were not followed
	reply    sent
	allowed  bool // the server lets this device publish replies
	est      estimator
	evaluate evaluation
	zeros    int // rounds in a row whose scalars were all zero
}

// New returns a client; nothing happens before Run. The error is [ErrConfig].
func New(cfg Config) (*Client, error) {
	cfg, dim, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	c := &Client{cfg: cfg, dim: dim, inbox: newInbox()}
	c.streams, _ = cfg.Objective.(Streaming)
	c.replica = c.blank()
	return c, nil
}

func (c *Client) blank() *replica.Replica {
	return replica.New(replica.Config{Run: c.cfg.Run, Dim: uint64(c.dim), Initial: c.cfg.Initial})
}

// Params copies the model to dst, which has one element per parameter, and
// returns the index of the record after which it is. Call it at any time, from
// any goroutine. Before record 1 there is no model: n is 0 and dst unchanged.
// While a device starts over, because the log turned out not to be its own or
// returns to an earlier state, n is smaller than it was.
func (c *Client) Params(dst []float32) (n uint64, err error) {
	if len(dst) != c.dim {
		return 0, fmt.Errorf("client: params: dst has %d elements, the model %d", len(dst), c.dim)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	copy(dst, c.replica.Params())
	return c.replica.N(), nil
}

// Digest returns the digest of the replica's state and the index of the record
// after which it is: devices with the same index have the same digest.
func (c *Client) Digest() (n uint64, digest [32]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replica.N(), c.replica.Digest()
}

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
	c.evaluate = evaluation{}
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
// device is offline, the coordinator is, or it waits for more devices.
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
		}
		quiet.Reset(c.patience())
	}
}

// patience is how long nothing has to be announced to be worth a question.
func (c *Client) patience() time.Duration {
	often := c.cfg.RequestTimeout
	if plan := c.replica.Plan(); plan != nil {
		often = max(often, time.Duration(plan.Reannounce)*time.Millisecond)
	}
	return 4 * often
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
	return errors.Is(err, wire.ErrUpgrade) || errors.Is(err, bus.ErrClosed) || errors.Is(err, bus.ErrPermission)
}

func (c *Client) shard() uint32 {
	return wire.Shard(c.cfg.ID, c.replica.Plan().Shards)
}

// record tells the Recorder where the client is.
func (c *Client) record(p Progress) error {
	c.last = max(c.last, c.replica.N())
	p.N, p.Last, p.Round = c.replica.N(), c.last, c.replica.Rounds()
	p.Queries, p.Refused = c.est.queries, c.inbox.refusals()
	if p.Err != nil {
		p.Err = fmt.Errorf("client: %w", p.Err)
	}
	if err := c.cfg.Recorder.Record(p); err != nil {
		return fmt.Errorf("recorder: %w", err)
	}
	return nil
}

// apply applies the next record.
func (c *Client) apply(record []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replica.Apply(record)
}

// replace puts another replica in the place of the present one.
func (c *Client) replace(r *replica.Replica) {
	c.mu.Lock()
	c.replica = r
	c.mu.Unlock()
}
