package client

import (
	"errors"
	"fmt"
	"sync"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/link"
	"github.com/zofl/zofl/client/internal/memlimit"
	"github.com/zofl/zofl/client/internal/outbox"
	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/wire"
)

// These errors end Run, and an app may branch on them. [Client.Run] also returns errors of other
// packages.
var (
	// ErrRefused says that the coordinator does not let this device join. The text gives the reason.
	ErrRefused = errors.New("join refused")
	// ErrRunning says that the app called Run or Load while Run or Load is running.
	ErrRunning = errors.New("already running")
	// ErrLoss says that the loss failed in the first round that asked this device, and then again.
	// Only [Config].NotStrict lets such a device go on. ErrLoss wraps the error of the loss.
	ErrLoss = errors.New("the loss failed in the first round, and again")
	// ErrPlan says that this device does not take part in the run's plan. There are two causes. In the
	// first case, the plan needs more memory than [Config].MemoryLimit: the text names the plan's
	// field, its value, the bytes and the remedy. In the second case, [Config].Accept refused the
	// plan; then ErrPlan wraps the error of Accept.
	ErrPlan = errPlan() // "this device does not take part in the plan"
	// ErrArithmetic says that this process computes other parameters than all other devices. The
	// text gives the cause and the remedy.
	ErrArithmetic = errors.New("this process flushes subnormal numbers to zero, or does not " +
		"round to nearest (built or loaded with -ffast-math?): build and link it, and every " +
		"library that it loads, without -ffast-math")
)

// Run reports these faults in [Progress].Err, and goes on.
var (
	// ErrDiverged says that the digest of this device's state differs from the reference that the run
	// announced. The text says after which record, and how the device reacts.
	ErrDiverged = errDiverged() // "state differs from the run's"
	// ErrStore says that the [Store] failed to read or write, or that an item in the store was
	// unusable. The client goes on in memory, and tries the store again when it next has something to
	// save.
	ErrStore = errStore() // "store"
)

// Functions return these values so that the documentation shows no name of an internal package.

func errPlan() error     { return memlimit.ErrPlan }
func errDiverged() error { return follow.ErrDiverged }
func errStore() error    { return files.ErrStore }

// A Client is one device of a run, or a passive replica of the run. A Client joins three parts: the
// follower replays records up to the head of the log, the prober evaluates the loss of the
// replica's model, and the outbox holds the reply that the device sent.
//
// The goroutine of Run owns a Client, except for mu and running. Each part's documentation says
// which of its methods other goroutines may call.
//
// Invariant: the app's callbacks run one at a time, except Config.About. While a callback hangs,
// the client uses no memory that the callback can reach.
type Client struct {
	cfg       Config
	pauses    *retry.Pauses
	link      *link.Link
	inbox     *inbox
	keepalive *keepalive

	follower *follow.Follower
	prober   *probe.Prober
	outbox   *outbox.Outbox
	files    *files.Keeper // nil: this device has no store
	server   *snapshotServer
	memory   memory

	pinned    bool // the device accepts only what the coordinator signed
	member    membership
	session   session
	doubt     retry.Doubt // about the log; member has that about joining
	backoff   retry.Backoff
	evaluated uint64 // last record whose state was evaluated
	state     State  // the last state reported
	failures  int    // of a loss that has never worked
	loaded    bool   // whether the client has loaded what the store had, or set it aside

	mu      sync.Mutex // guards running
	running bool
}

// New returns a client. The client does nothing before Run. The errors of New match [ErrConfig].
func New(cfg Config) (*Client, error) {
	cfg, dim, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	keys, _ := cfg.keys() // withDefaults has checked them
	c := &Client{
		cfg: cfg, pauses: retry.NewPauses(cfg.ID, cfg.RetryMax), inbox: newInbox(cfg.Run, keys),
		pinned: keys != nil,
		link: link.New(link.Config{
			Bus: cfg.Bus, Run: cfg.Run, ID: cfg.ID, Timeout: cfg.RequestTimeout,
			Keys: keys, About: cfg.About, Logger: cfg.Logger,
		}),
	}
	c.keepalive = newKeepalive(&cfg, c.link, c.inbox)
	if cfg.Store != nil {
		c.files = files.New(files.Config{
			Store: cfg.Store, Run: cfg.Run, ID: cfg.ID, Logger: cfg.Logger, Report: c.reportAside,
		})
	}
	c.prober = probe.New(probe.Config{
		Objective: cfg.Objective, Dim: dim, ID: cfg.ID, Workers: cfg.Workers, Logger: cfg.Logger,
		Accept: cfg.Accept, MaxBatch: cfg.MaxBatch,
	})
	c.follower = c.newFollower(dim, keys != nil)
	c.outbox = outbox.New(outbox.Config{
		Files: c.files, Log: c.follower, Pauses: c.pauses, Logger: cfg.Logger,
		Upload: c.link.Upload, Room: c.link.Room, Report: c.reportUpload,
	})
	c.server = &snapshotServer{files: c.files, bus: cfg.Bus, log: cfg.Logger}
	c.memory = memory{files: c.files, prober: c.prober}
	return c, nil
}

func (c *Client) newFollower(dim int, pinned bool) *follow.Follower {
	guard := c.guard()
	cfg := follow.Config{
		Run: c.cfg.Run,
		Replica: replica.Config{
			Run: c.cfg.Run, Dim: uint64(dim), Initial: c.cfg.Initial,
			ReadInitial: c.cfg.ReadInitial, RunKey: c.cfg.RunKey, Workers: c.cfg.Workers, Check: guard.Fits,
		},
		Source: c.link, Files: c.files, Pauses: c.pauses, Logger: c.cfg.Logger,
		Report: c.reportFollowing, Horizon: c.cfg.Horizon,
		CheckpointEvery: c.cfg.CheckpointEvery, CheckpointInterval: c.cfg.CheckpointInterval,
		Signed: pinned,
	}
	if c.cfg.Passive != nil {
		cfg.Witness = witness{c}
	} else {
		cfg.Observer = observer{c}
	}
	return follow.New(cfg)
}

// guard returns the checks that a plan must pass on this device.
func (c *Client) guard() *memlimit.Guard {
	flat := true
	switch c.cfg.Objective.(type) {
	case objective.Batched, objective.Streaming:
		flat = false
	}
	return &memlimit.Guard{Limit: c.cfg.MemoryLimit, Device: footprint.Device{
		Flat: flat, Passive: c.cfg.Passive != nil, Workers: c.cfg.Workers,
	}}
}

// Params copies the model to dst, which has one element per parameter. n is the last record that
// the model includes: with transport=dense, the last record whose vectors arrived. You may call
// Params at any time, from any goroutine. Before record 1 there is no model: n is 0, and dst is
// unchanged. n can decrease: when the run rolls back, or when the device finds that it followed
// another log and starts over.
func (c *Client) Params(dst []float32) (n uint64, err error) {
	if n, err = c.follower.Params(dst); err != nil {
		err = fmt.Errorf("client: %w", err)
	}
	return n, err
}

// View calls see with the model after record n, without a copy. see must not change or keep x, and
// must not call the client: until see returns, the client applies no record and Params waits.
// Before record 1, n is 0 and x is empty. Use View to write a large model to a file after Run.
func (c *Client) View(see func(n uint64, x []float32) error) (err error) {
	c.follower.View(func(r *replica.Replica) { err = see(r.Whole(), r.Params()) })
	return err
}

// Dim returns the number of parameters of the objective. For a passive replica Dim returns the
// plan's number, or 0 before the plan arrives.
func (c *Client) Dim() int { return c.follower.Dim() }

// Digest returns the digest of the replica's state after record n. Devices with the same n have the
// same digest. n is 0 while the device waits for the vectors of the last record.
func (c *Client) Digest() (n uint64, digest [32]byte) { return c.follower.Digest() }

// Record returns the index of the last record that the device applied, and the number of rounds up
// to that record; both are 0 before record 1.
func (c *Client) Record() (n, rounds uint64) { return c.follower.Counts() }

// An observer passes records from the follower to the outbox, which New creates after the follower.
type observer struct{ *Client }

func (o observer) See(r *wire.Record, record []byte) { o.outbox.See(r, record) }
func (o observer) Doubt()                            { o.outbox.Doubt() }
