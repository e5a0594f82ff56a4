package client

import (
	"errors"
	"fmt"
	"sync"

	"github.com/zofl/zofl/client/internal/contribution"
	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/internal/shelf"
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

// Faults that Run goes on with. They come in [Progress].Err.
var (
	// ErrDiverged: the state of this device differs from the reference that the
	// run announced for it; the text says after which record, and what the device
	// does about it.
	ErrDiverged = follow.ErrDiverged
	// ErrStore: the [Store] could not be written or read, or held what could not be
	// used. The client goes on in memory, and tries again at the next occasion.
	ErrStore = shelf.ErrStore
)

// A Client is one device of a run, or a passive replica of it. It conducts its parts: the
// follower brings the model to the log's head, the prober evaluates the loss there, and the
// outbox holds what was promised.
//
// The goroutine of Run owns it, but for mu, running, and what its parts say of themselves.
//
// Invariant: the app's callbacks run one at a time, and while one hangs, nothing that it can
// reach is used.
type Client struct {
	cfg    Config
	pauses *retry.Pauses
	link   *link
	inbox  *inbox

	follower *follow.Follower
	prober   *probe.Prober
	outbox   *contribution.Outbox
	shelf    *shelf.Shelf
	server   *snapshotServer
	memory   memory

	member    membership
	evaluated uint64 // last record whose state was evaluated
	state     State  // as the Recorder was told last
	opened    bool   // what an earlier process left in the store was looked at

	mu      sync.Mutex // guards running
	running bool
}

// New returns a client; nothing happens before Run. The error is [ErrConfig].
func New(cfg Config) (*Client, error) {
	cfg, dim, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	c := &Client{
		cfg: cfg, pauses: retry.NewPauses(cfg.ID, cfg.RetryMax), inbox: newInbox(),
		link: newLink(&cfg),
	}
	c.shelf = shelf.New(shelf.Config{
		Store: cfg.Store, Run: cfg.Run, ID: cfg.ID, Logger: cfg.Logger, Report: c.reportAside,
	})
	c.prober = probe.New(probe.Config{
		Objective: cfg.Objective, Dim: dim, ID: cfg.ID, Workers: cfg.Workers, Logger: cfg.Logger,
	})
	c.follower = c.newFollower(dim)
	c.outbox = contribution.New(contribution.Config{
		Shelf: c.shelf, Log: c.follower, Pauses: c.pauses, Logger: cfg.Logger,
		Upload: c.link.upload, Report: c.reportUpload,
	})
	c.server = &snapshotServer{shelf: c.shelf, bus: cfg.Bus, log: cfg.Logger}
	c.memory = memory{shelf: c.shelf, prober: c.prober}
	return c, nil
}

func (c *Client) newFollower(dim int) *follow.Follower {
	cfg := follow.Config{
		Run: c.cfg.Run,
		Replica: replica.Config{
			Run: c.cfg.Run, Dim: uint64(dim), Initial: c.cfg.Initial,
			RunKey: c.cfg.RunKey, Workers: c.cfg.Workers,
		},
		Source: c.link, Shelf: c.shelf, Pauses: c.pauses, Logger: c.cfg.Logger,
		Report: c.reportFollowing, Horizon: c.cfg.Horizon,
		CheckpointEvery: c.cfg.CheckpointEvery, CheckpointInterval: c.cfg.CheckpointInterval,
	}
	if c.cfg.Passive != nil {
		cfg.Witness = witness{c}
	} else {
		cfg.Observer = observer{c}
	}
	return follow.New(cfg)
}

// Params copies the model to dst, which has one element per parameter, and
// returns the index of the record after which it is: with transport=dense the last whose
// vectors came. Call it at any time, from any goroutine. Before record 1 there is no
// model: n is 0 and dst unchanged. While a device starts over, because the log turned out
// not to be its own or returns to an earlier state, n is smaller than it was.
func (c *Client) Params(dst []float32) (n uint64, err error) {
	if n, err = c.follower.Params(dst); err != nil {
		err = fmt.Errorf("client: %w", err)
	}
	return n, err
}

// Dim returns the number of parameters: the objective's, of a passive replica the
// plan's, 0 before it has that.
func (c *Client) Dim() int { return c.follower.Dim() }

// Digest returns the digest of the replica's state and the index of the record
// after which it is: devices with the same index have the same digest. While the
// vectors of the last record are on the way there is none: n is 0.
func (c *Client) Digest() (n uint64, digest [32]byte) { return c.follower.Digest() }

// Record returns the index of the last record that the state has, and how many rounds
// are among them; both are 0 before record 1.
func (c *Client) Record() (n, rounds uint64) { return c.follower.Counts() }

// An observer shows records to a device's outbox, which is made after the follower.
type observer struct{ *Client }

func (o observer) See(r *wire.Record, record []byte) { o.outbox.See(r, record) }
func (o observer) Doubt()                            { o.outbox.Doubt() }
