package client

import (
	"errors"
	"fmt"
	"sync"

	"github.com/zofl/zofl/client/internal/consent"
	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/link"
	"github.com/zofl/zofl/client/internal/outbox"
	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/wire"
)

// Errors of Run on which an app may branch. [Client.Run] lists those of other packages.
var (
	// ErrRefused: the coordinator does not let this device join; the text has its reason.
	ErrRefused = errors.New("join refused")
	// ErrRunning: Run or Load was called while Run or Load is running.
	ErrRunning = errors.New("already running")
	// ErrPlan: this device does not take part in the run's plan. Either that needs more memory
	// than [Config].MemoryLimit; the text names the plan's field, its value, the bytes and the
	// remedy. Or [Config].Accept refuses it, with an error that this one wraps.
	ErrPlan = errPlan() // "this device does not take part in the plan"
)

// Faults that Run survives. It reports them in [Progress].Err.
var (
	// ErrDiverged: this device's state differs from the reference that the run announced
	// for it; the text says after which record, and what the device does about it.
	ErrDiverged = errDiverged() // "state differs from the run's"
	// ErrStore: writing or reading the [Store] failed, or an item in it was unusable. The
	// client goes on in memory, and tries again at the next occasion.
	ErrStore = errStore() // "store"
)

// As functions give them, documentation shows no name of an internal package.

func errPlan() error     { return consent.ErrPlan }
func errDiverged() error { return follow.ErrDiverged }
func errStore() error    { return files.ErrStore }

// A Client is one device of a run, or a passive replica of it. It conducts its parts: the
// follower brings the model to the head of the log, the prober evaluates the loss there, and
// the outbox holds what the device promised.
//
// The goroutine of Run owns it, except mu and running. Its parts say what other goroutines
// may use.
//
// Invariant: the app's callbacks run one at a time, but for Config.About. While a callback hangs,
// nothing it can reach is used.
type Client struct {
	cfg    Config
	pauses *retry.Pauses
	link   *link.Link
	inbox  *inbox
	pulse  *pulse

	follower *follow.Follower
	prober   *probe.Prober
	outbox   *outbox.Outbox
	files    *files.Keeper
	server   *snapshotServer
	memory   memory

	member    membership
	recess    retry.Recess
	evaluated uint64 // last record whose state was evaluated
	state     State  // the last one reported
	loaded    bool   // what an earlier process left in the store is loaded, or set aside

	mu      sync.Mutex // guards running
	running bool
}

// New returns a client, which does nothing before Run. The error is [ErrConfig].
func New(cfg Config) (*Client, error) {
	cfg, dim, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	c := &Client{
		cfg: cfg, pauses: retry.NewPauses(cfg.ID, cfg.RetryMax), inbox: newInbox(&cfg),
		link: link.New(link.Config{
			Bus: cfg.Bus, Run: cfg.Run, ID: cfg.ID, Timeout: cfg.RequestTimeout,
			Keys: cfg.keys(), About: cfg.About, Logger: cfg.Logger,
		}),
	}
	c.pulse = newPulse(&cfg, c.link, c.inbox)
	c.files = files.New(files.Config{
		Store: cfg.Store, Run: cfg.Run, ID: cfg.ID, Logger: cfg.Logger, Report: c.reportAside,
	})
	c.prober = probe.New(probe.Config{
		Objective: cfg.Objective, Dim: dim, ID: cfg.ID, Workers: cfg.Workers, Logger: cfg.Logger,
		Accept: cfg.Accept, MaxBatch: cfg.MaxBatch,
	})
	c.follower = c.newFollower(dim)
	c.outbox = outbox.New(outbox.Config{
		Files: c.files, Log: c.follower, Pauses: c.pauses, Logger: cfg.Logger,
		Upload: c.link.Upload, Report: c.reportUpload,
	})
	c.server = &snapshotServer{files: c.files, bus: cfg.Bus, log: cfg.Logger}
	c.memory = memory{files: c.files, prober: c.prober}
	return c, nil
}

func (c *Client) newFollower(dim int) *follow.Follower {
	guard := c.guard()
	cfg := follow.Config{
		Run: c.cfg.Run,
		Replica: replica.Config{
			Run: c.cfg.Run, Dim: uint64(dim), Initial: c.cfg.Initial,
			RunKey: c.cfg.RunKey, Workers: c.cfg.Workers, Check: guard.Fits,
		},
		Source: c.link, Files: c.files, Pauses: c.pauses, Logger: c.cfg.Logger,
		Report: c.reportFollowing, Horizon: c.cfg.Horizon,
		CheckpointEvery: c.cfg.CheckpointEvery, CheckpointInterval: c.cfg.CheckpointInterval,
		Signed: c.cfg.keys() != nil,
	}
	if c.cfg.Passive != nil {
		cfg.Witness = witness{c}
	} else {
		cfg.Observer = observer{c}
	}
	return follow.New(cfg)
}

// guard returns what judges plans for this device.
func (c *Client) guard() *consent.Guard {
	flat := true
	switch c.cfg.Objective.(type) {
	case objective.Batched, objective.Streaming:
		flat = false
	}
	return &consent.Guard{Limit: c.cfg.MemoryLimit, Device: footprint.Device{
		Flat: flat, Passive: c.cfg.Passive != nil, Workers: c.cfg.Workers,
	}}
}

// Params copies the model to dst, which has one element per parameter. The model is that
// after record n: with transport=dense, the last record whose vectors arrived. Call it at
// any time, from any goroutine. Before record 1 there is no model: n is 0, and dst is
// unchanged. n decreases while a device starts over, because it had followed another log or
// because the run rolled back.
func (c *Client) Params(dst []float32) (n uint64, err error) {
	if n, err = c.follower.Params(dst); err != nil {
		err = fmt.Errorf("client: %w", err)
	}
	return n, err
}

// Dim returns the number of parameters: that of the objective. For a passive replica it is
// that of the plan, and 0 before the plan arrives.
func (c *Client) Dim() int { return c.follower.Dim() }

// Digest returns the digest of the replica's state after record n. Devices with the same n
// have the same digest. n is 0 while the vectors of the last record are on the way.
func (c *Client) Digest() (n uint64, digest [32]byte) { return c.follower.Digest() }

// Record returns the index of the last record that was applied, and the number of rounds up
// to it; both are 0 before record 1.
func (c *Client) Record() (n, rounds uint64) { return c.follower.Counts() }

// An observer passes records from the follower to the outbox, which New makes later.
type observer struct{ *Client }

func (o observer) See(r *wire.Record, record []byte) { o.outbox.See(r, record) }
func (o observer) Doubt()                            { o.outbox.Doubt() }
