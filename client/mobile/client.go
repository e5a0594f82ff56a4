package mobile

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/mobile/internal/devicedir"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// A Client is one device of a run. Any thread may call its methods. Run, RunFor and Load
// block, so never call them on an app's main thread.
//
// Invariants:
//  1. The client calls no code of the app while it holds mu.
//  2. A connection, the lock of StateDir and goroutines exist only while Run runs. A
//     goroutine whose callback has not returned may outlive it.
//  3. After Stop was called and Run has returned, the client holds no object of the app.
type Client struct {
	settings      Config // the config without callbacks and listener
	inner         *client.Client
	device        device
	policy        policy
	link          link
	dir           *devicedir.Dir // nil: memory only
	events        events
	traffic       traffic
	trust         *truster
	reconnectBusy atomic.Bool // a Reconnect is running

	mu      sync.Mutex // guards what follows
	cancel  context.CancelCauseFunc
	nc      *nats.Conn // of Run; nil: none
	dialer  *dialer    // of Run; nil: none
	wake    chan struct{}
	stopped bool
	status  status
}

// status is the client's latest progress, for the methods that report it.
type status struct {
	online        bool
	state         client.State
	record, last  uint64
	round         uint64
	queries       uint64
	contributions int64
	loss          float64
}

// NewClient returns a client for a Config; nothing happens before [Client.Run]. From then on the
// client owns the objective, evaluator and listener. Errors have [CodeConfig] or [CodeInsecure].
func NewClient(cfg *Config) (c *Client, err error) {
	defer guard(&err)
	if err := cfg.check(); err != nil {
		return nil, err
	}
	c = &Client{
		settings: cfg.values(),
		policy: policy{unmeteredOnly: cfg.UnmeteredOnly, chargingOnly: cfg.ChargingOnly,
			minBattery: cfg.MinBattery},
		events: events{listener: cfg.listener},
		wake:   make(chan struct{}, 1),
		status: status{loss: math.NaN()},
	}
	c.link.failed = c.fail
	c.device.dim, c.device.samples, c.device.workers = cfg.Dim, cfg.Samples, cfg.workers()
	c.device.policy = &c.policy
	c.device.callbacks = cfg.callbacks.moved()
	c.trust = newTruster(c.device.callbacks)
	config := client.Config{
		Bus: &c.link, Run: cfg.Run, ID: cfg.Device, Workers: cfg.workers(),
		Objective: c.device.objective(), Initial: cfg.initial, RunKey: cfg.runKey,
		MaxBatch: cfg.MaxBatch, Recorder: client.RecorderFunc(c.record),
		MemoryLimit: uint64(cfg.MemoryLimit), Coordinator: cfg.Coordinator,
		Accept: c.device.accept, NotStrict: cfg.NotStrict, Columns: cfg.columns,
	}
	if name := cfg.About; name != "" {
		config.About = func() deviceinfo.Device { return c.policy.about(name) }
	}
	if cfg.StateDir != "" {
		c.dir = devicedir.New(cfg.StateDir)
		config.Store = c.dir
	}
	if c.inner, err = client.New(config); err != nil {
		cfg.callbacks.take(c.device.callbacks)
		return nil, coded(err)
	}
	cfg.listener = nil
	return c, nil
}

// isMade says whether NewClient made the client. Bindings have constructors that make a Client
// without NewClient.
func (c *Client) isMade() bool { return c != nil && c.inner != nil }

// Stop ends Run, and the client for good. It releases the objective, the evaluator and the listener
// once Run has returned and none of them is running. It returns at once. Call it from anywhere,
// even from a callback, and as often as you like. The model stays available: see Params.
func (c *Client) Stop() {
	defer contain()
	if !c.isMade() {
		return
	}
	c.mu.Lock()
	first, cancel := !c.stopped, c.cancel
	c.stopped = true
	c.mu.Unlock()
	switch {
	case cancel != nil:
		cancel(errStopped)
	case first:
		c.finish()
	}
}

// Dim is the number of parameters.
func (c *Client) Dim() int {
	if !c.isMade() {
		return 0
	}
	return c.settings.Dim
}

// Params writes the model into dst, 4*Dim bytes of little-endian float32. It returns the index of
// the record after which the model has these parameters. 0 means that there is no model yet, and
// that dst did not change. Call it at any time, even while offline or after Stop. Before Run,
// [Client.Load] reads the files in StateDir. In Objective-C pass NSMutableData; in Swift call
// [Client.Model].
func (c *Client) Params(dst []byte) (record int64, err error) {
	defer guard(&err)
	if !c.isMade() {
		return 0, errUnmade
	}
	if len(dst) != floatBytes*c.settings.Dim {
		return 0, faultf(CodeConfig, "dst has %d bytes, the model %d",
			len(dst), floatBytes*c.settings.Dim)
	}
	x := floatsOf(dst)
	if x == nil {
		x = make([]float32, c.settings.Dim)
		defer func() {
			if record > 0 {
				putFloats(dst, x)
			}
		}()
	}
	n, err := c.inner.Params(x)
	return int64(n), coded(err)
}

// Model returns a copy of the model that Params writes, or null if there is none, or if it has more
// than [MaxBlock] parameters: see [Client.CopyModel]. It is for Swift, which passes Go a copy of
// its Data: whatever Go writes there is lost.
func (c *Client) Model() (params []byte) {
	defer contain()
	if !c.isMade() || c.settings.Dim > MaxBlock {
		return nil
	}
	b := make([]byte, floatBytes*c.settings.Dim)
	if n, err := c.Params(b); n == 0 || err != nil {
		return nil
	}
	return b
}

// digestBytes is the length of a digest.
const digestBytes = 32

// Digest writes the digest of the device's state into dst, 32 bytes, and returns the index of the
// record after which the device has that state. Devices at the same record have the same digest. It
// returns 0, and does not change dst, if there is no state yet. In Objective-C pass NSMutableData.
func (c *Client) Digest(dst []byte) (record int64, err error) {
	defer guard(&err)
	if !c.isMade() {
		return 0, errUnmade
	}
	if len(dst) != digestBytes {
		return 0, faultf(CodeConfig, "dst has %d bytes, a digest %d", len(dst), digestBytes)
	}
	n, digest := c.inner.Digest()
	if n > 0 {
		copy(dst, digest[:])
	}
	return int64(n), nil
}
