package client

import (
	"errors"
	"fmt"
	"sync"

	"github.com/zofl/zofl/client/replica"
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
	plan     []byte // record 1, as applied
	course   course
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

// errRecorder marks what the Recorder returned: it stops Run wherever it is.
var errRecorder = errors.New("recorder")

// record tells the Recorder where the client is.
func (c *Client) record(p Progress) error {
	c.last = max(c.last, c.replica.N())
	p.N, p.Last, p.Round = c.replica.N(), c.last, c.replica.Rounds()
	p.Queries, p.Refused = c.est.queries, c.inbox.refusals()
	if p.Err != nil {
		p.Err = fmt.Errorf("client: %w", p.Err)
	}
	if err := c.cfg.Recorder.Record(p); err != nil {
		return fmt.Errorf("%w: %w", errRecorder, err)
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
