package client

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/zofl/zofl/client/internal/probe"
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

// A Client is one device of a run, or a passive replica of it.
//
// Invariants:
//  1. Only the goroutine of Run changes replica, and only under mu.
//  2. What it holds is the replay of the log up to the replica's record, except
//     while unproven is not 0: then a reference has yet to agree.
//  3. The app's callbacks run one at a time, and nothing that one which has
//     not returned may still touch is used until it does.
type Client struct {
	cfg    Config
	dim    int // 0: a passive replica's, which has the plan's
	inbox  *inbox
	prober *probe.Prober

	mu      sync.Mutex // guards replica against Params and Digest, and running
	replica *replica.Replica
	running bool

	// Owned by the goroutine of Run.
	slot      uint32
	joined    bool  // slot is known
	state     State // as told last
	course    course
	unproven  uint64 // record of the snapshot that the state began with, until a reference agrees; 0: none
	keeper    keeper
	shelf     *shelf.Shelf
	digests   digests
	repair    repair
	snapshots snapshots
	server    *snapshotServer
	pace      pace
	batch     batch
	decoded   wire.Record // in a catch-up: the record looked at
	epoch     uint64      // of the last announcement that was followed
	last      uint64      // last record of the log, as far as known
	rejoinAt  time.Time   // when to ask for the slot again, zero: no need
	ignored   int         // announcements in a row that were not followed
	reply     sent        // the last contribution
	declined  sent        // the last decline
	upload    upload      // the last contribution to a dense run
	vector    []float32   // of the last task
	objects   objects
	allowed   bool // the server lets this device publish replies
	variates  variates
	evaluate  evaluation
	random    *rand.Rand // pauses that devices must not make in step
}

// New returns a client; nothing happens before Run. The error is [ErrConfig].
func New(cfg Config) (*Client, error) {
	cfg, dim, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	c := &Client{cfg: cfg, dim: dim, inbox: newInbox(), random: newRandom(cfg.ID)}
	c.prober = probe.New(probe.Config{
		Objective: cfg.Objective, Dim: dim, ID: cfg.ID, Workers: cfg.Workers, Logger: cfg.Logger,
	})
	c.replica = c.blank()
	c.shelf = shelf.New(shelf.Config{
		Store: cfg.Store, Run: cfg.Run, ID: cfg.ID, Logger: cfg.Logger,
		Report: func(err error) error { return c.record(Progress{State: c.state, Err: err}) },
	})
	c.server = &snapshotServer{shelf: c.shelf, bus: cfg.Bus, log: cfg.Logger}
	return c, nil
}

func (c *Client) blank() *replica.Replica { return replica.New(c.replicaConfig()) }

// Params copies the model to dst, which has one element per parameter, and
// returns the index of the record after which it is: in a dense run the last whose
// vectors came. Call it at any time, from any goroutine. Before record 1 there is no
// model: n is 0 and dst unchanged. While a device starts over, because the log turned out not to be its own or
// returns to an earlier state, n is smaller than it was.
func (c *Client) Params(dst []float32) (n uint64, err error) {
	if c.Dim() == 0 {
		return 0, nil // a passive replica's that has no plan yet
	}
	if dim := c.Dim(); len(dst) != dim {
		return 0, fmt.Errorf("client: params: dst has %d elements, the model %d", len(dst), dim)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	copy(dst, c.replica.Params())
	return c.replica.Whole(), nil
}

// Dim returns the number of parameters: the objective's, of a passive replica the
// plan's, 0 before it has that.
func (c *Client) Dim() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.dim, len(c.replica.Params()))
}

// Digest returns the digest of the replica's state and the index of the record
// after which it is: devices with the same index have the same digest. While the
// vectors of a dense run's last record are on the way there is none: n is 0.
func (c *Client) Digest() (n uint64, digest [32]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.whole() {
		return 0, digest
	}
	return c.replica.N(), c.replica.Digest()
}

// Record returns the index of the last record that the state has, and how many rounds
// are among them; both are 0 before record 1.
func (c *Client) Record() (n, rounds uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replica.N(), c.replica.Rounds()
}

// errRecorder marks what the Recorder returned: it stops Run wherever it is.
var errRecorder = errors.New("recorder")

// record tells the Recorder where the client is.
func (c *Client) record(p Progress) error {
	c.state = p.State
	c.last = max(c.last, c.replica.N())
	p.N, p.Last, p.Round = c.replica.N(), c.last, c.replica.Rounds()
	p.Phase = c.replica.Phase()
	p.Queries, p.Refused = c.prober.Queries(), c.inbox.refusals()+c.server.refusals()
	if p.Err != nil {
		p.Err = fmt.Errorf("client: %w", p.Err)
	}
	if err := c.cfg.Recorder.Record(p); err != nil {
		return fmt.Errorf("%w: %w", errRecorder, err)
	}
	return nil
}

// applyAll applies the next records.
func (c *Client) applyAll(records [][]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.replica.ApplyAll(records)
	return err
}

// apply applies the next record.
func (c *Client) apply(record []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replica.Apply(record)
}

// applyPlan applies record 1.
func (c *Client) applyPlan(record []byte) error {
	if err := c.apply(record); err != nil {
		return fmt.Errorf("plan: %w", c.keyed(err))
	}
	if err := c.checkPrivate(); err != nil {
		c.replace(c.blank())
		return fmt.Errorf("plan: %w", err)
	}
	return nil
}

// keyed adds to a fault of the run key what to do about it.
func (c *Client) keyed(err error) error {
	if errors.Is(err, wire.ErrRunKey) {
		return fmt.Errorf("%w: set Config.RunKey to the 32 bytes that the plan of run %q was made with", err, c.cfg.Run)
	}
	return err
}

// checkPrivate refuses a plan with a public run key where the app has a secret one: to
// whoever made that plan the model would be no secret.
func (c *Client) checkPrivate() error {
	if c.seals() && !c.replica.Plan().Private() {
		return fmt.Errorf("%w: this device has a secret one, and the plan's is public: leave Config.RunKey nil for a run that is not private",
			wire.ErrRunKey)
	}
	return nil
}

// replace puts another replica in the place of the present one.
func (c *Client) replace(r *replica.Replica) {
	c.mu.Lock()
	c.replica = r
	c.mu.Unlock()
}
