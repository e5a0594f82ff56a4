package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// Errors that stop Run and that no waiting cures. Errors of package replica
// ([replica.ErrDim], [replica.ErrInitial]) and [wire.ErrUpgrade] do too.
var (
	// ErrConfig: a field of Config cannot be used; the text says which.
	ErrConfig = errors.New("client: bad config")
	// ErrRefused: the coordinator does not let this device join.
	ErrRefused = errors.New("client: join refused")
	// ErrRunning: Run was called while it runs.
	ErrRunning = errors.New("client: already running")
)

// Config is what a client needs.
type Config struct {
	// Conn is the app's connection; the client never dials or closes it. For
	// a device on a bad network set nats.MaxReconnects(-1),
	// nats.RetryOnFailedConnect(true) and nats.ReconnectBufSize(-1).
	Conn *nats.Conn
	// Bus replaces Conn, for tests and simulations. One of the two is needed.
	Bus bus.Bus
	// Run is the name of the run.
	Run string
	// ID names this device among the others, for ever: letters, digits, '-'
	// and '_', at most 32. Every byte of it is paid in every reply.
	ID string
	// Objective is the app's loss. What else it implements of [Streaming],
	// [Evaluator], [Sampler] and [Policy] is used.
	Objective Objective
	// Initial are the first parameters of a plan that has them given. They
	// are not copied before the plan arrives, and not changed. Others: nil.
	Initial []float32
	// Recorder receives progress; nil: nobody does.
	Recorder Recorder
	// Logger receives what an operator would want to know; nil: nobody does.
	Logger *slog.Logger
	// RequestTimeout bounds each request to the coordinator; 0 is 5 s.
	RequestTimeout time.Duration
	// RetryMax bounds the pause between attempts to join, which starts at
	// RetryMax/32 and doubles; 0 is 30 s.
	RetryMax time.Duration
}

func (c Config) withDefaults() (Config, error) {
	if c.Bus == nil && c.Conn != nil {
		c.Bus = bus.NATS(c.Conn)
	}
	switch {
	case c.Bus == nil:
		return c, fmt.Errorf("%w: Conn is nil: connect with nats.Connect first", ErrConfig)
	case wire.CheckName(c.Run) != nil:
		return c, fmt.Errorf("%w: Run: %v", ErrConfig, wire.CheckName(c.Run))
	case wire.CheckName(c.ID) != nil:
		return c, fmt.Errorf("%w: ID: %v", ErrConfig, wire.CheckName(c.ID))
	case c.Objective == nil:
		return c, fmt.Errorf("%w: Objective is nil: give the loss, for instance client.Func(dim, loss)", ErrConfig)
	case c.Objective.Dim() < 1:
		return c, fmt.Errorf("%w: Objective.Dim() = %d: a model has at least one parameter", ErrConfig, c.Objective.Dim())
	}
	if c.Recorder == nil {
		c.Recorder = RecorderFunc(func(Progress) error { return nil })
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.RequestTimeout <= 0 {
		c.RequestTimeout = 5 * time.Second
	}
	if c.RetryMax <= 0 {
		c.RetryMax = 30 * time.Second
	}
	c.Logger = c.Logger.With("run", c.Run, "id", c.ID)
	return c, nil
}

// A Client is one device of a run.
//
// Invariants:
//  1. Only the goroutine of Run changes replica, and only under mu.
//  2. The app's callbacks run one at a time: pending is the one that has not
//     returned, and nothing it may still touch is used until it does.
type Client struct {
	cfg     Config
	streams Streaming // nil for a flat objective
	inbox   *inbox
	calls   caller

	mu      sync.Mutex // guards replica against Params and Digest, and running
	replica *replica.Replica
	running bool

	// Owned by the goroutine of Run.
	slot     uint32
	joined   bool
	epoch    uint64 // highest seen
	reply    sent
	est      estimator
	evaluate evaluation
	zeros    int // rounds in a row whose scalars were all zero
}

// sent is the last contribution or decline, kept to be sent again as it is.
type sent struct {
	n     uint64
	tip   wire.Tip
	frame []byte
}

// New returns a client; nothing happens before Run.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, inbox: newInbox()}
	c.streams, _ = cfg.Objective.(Streaming)
	c.replica = c.blank()
	return c, nil
}

func (c *Client) blank() *replica.Replica {
	return replica.New(replica.Config{
		Run:     c.cfg.Run,
		Dim:     uint64(c.cfg.Objective.Dim()),
		Initial: c.cfg.Initial,
	})
}

// Params copies the model to dst, which has one element per parameter, and
// returns the index of the record after which it is. Call it at any time, from
// any goroutine. Before record 1 there is no model: n is 0 and dst unchanged.
func (c *Client) Params(dst []float32) (n uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if want := c.cfg.Objective.Dim(); len(dst) != want {
		return 0, fmt.Errorf("client: params: dst has %d elements, the model %d", len(dst), want)
	}
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
// and then returns its cause. Other errors are those listed with [ErrConfig],
// and whatever Recorder returns. It can be called again after it returned; the
// client goes on from the record it had.
//
// No goroutine outlives Run, except one whose callback has not returned.
func (c *Client) Run(ctx context.Context) error {
	if !c.start() {
		return ErrRunning
	}
	defer c.stop()
	c.calls.start()
	defer c.calls.stop()

	plan, err := c.join(ctx)
	if err != nil {
		return err
	}
	shard := wire.Shard(c.cfg.ID, plan.Shards)
	sub, err := c.cfg.Bus.Subscribe(wire.AnnounceSubject(c.cfg.Run, shard), c.inbox.receive)
	if err != nil {
		return fmt.Errorf("client: subscribe to announcements: %w", err)
	}
	defer sub.Unsubscribe()
	if err := c.record(Progress{State: Waiting}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.inbox.arrived:
		}
		if done, err := c.follow(ctx); done || err != nil {
			return err
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

// record tells the Recorder where the client is.
func (c *Client) record(p Progress) error {
	p.N, p.Round, p.Queries = c.replica.N(), c.replica.Rounds(), c.est.queries
	p.Last = max(p.Last, p.N)
	if err := c.cfg.Recorder.Record(p); err != nil {
		return fmt.Errorf("client: recorder: %w", err)
	}
	return nil
}

// apply applies the next record.
func (c *Client) apply(record []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replica.Apply(record)
}
