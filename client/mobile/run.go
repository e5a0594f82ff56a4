package mobile

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
)

// Why a Run ends that nobody need hear of.
var (
	errStopped = errors.New("stopped")
	errBudget  = errors.New("the time is up")
)

var errUnmade = faultf(CodeConfig, "make the client with NewClient")

// listenerPatience is how long Run waits at its end for a Listener.
const listenerPatience = 2 * time.Second

// Run takes part until the run ends or [Client.Stop] is called, and returns nil then.
// Being offline is no error. Those that it returns are what no waiting cures:
// [CodePermission], [CodeRefused], [CodeDim], [CodeInitial], [CodePlan], [CodeRunKey],
// [CodeUpgrade], [CodeLocked], [CodeStore], [CodeStopped], [CodeRunning], [CodePanic].
func (c *Client) Run() (err error) {
	defer guard(&err)
	if !c.made() {
		return errUnmade
	}
	return c.run(context.Background())
}

// RunFor is Run for so many milliseconds: then it keeps the state in StateDir, closes
// the connection and returns nil; another call goes on. Time that the device sleeps
// counts. Leave a few seconds of what the system grants. Whether the run is over says
// [Client.Ended].
func (c *Client) RunFor(milliseconds int64) (err error) {
	defer guard(&err)
	switch {
	case !c.made():
		return errUnmade
	case milliseconds < 1:
		return faultf(CodeConfig, "milliseconds = %d: give at least 1", milliseconds)
	}
	budget := time.Duration(min(milliseconds, int64(maxBudget/time.Millisecond))) * time.Millisecond
	ctx, cancel := c.budget(budget)
	defer cancel(nil)
	return c.run(ctx)
}

// run is Run until ctx ends.
func (c *Client) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := c.start(cancel); err != nil {
		return err
	}
	defer c.ran()
	if err := c.open(); err != nil {
		return err
	}
	defer c.close()
	err := c.connected(ctx)
	switch cause := context.Cause(ctx); {
	case err == nil, cause == errStopped, cause == errBudget:
		return nil
	case cause != nil: // a handler panicked
		return coded(cause)
	}
	return coded(err)
}

// connected takes part over a connection, and over another where a server ended one for
// good: NATS leaves a server for ever that tells it of an error which it does not know.
func (c *Client) connected(ctx context.Context) error {
	if err := c.inner.Load(); err != nil { // the app may want the model before there is a network
		return err
	}
	c.tellState("")
	c.tellProgress()
	d := &dialer{ctx: ctx, plaintext: c.settings.Plaintext, traffic: &c.traffic, within: dialWithin}
	defer c.connect(nil, nil)
	for ended := 0; ; {
		began := time.Now()
		nc, err := c.over(ctx, d)
		if !errors.Is(err, bus.ErrClosed) || ctx.Err() != nil {
			return err
		}
		c.online(ctx, false, nc.LastError())
		c.unreachable(nc.LastError())
		ended = inARow(ended, time.Since(began))
		d.rest(nc.Opts.CustomReconnectDelayCB(ended))
	}
}

// steady is how long a connection lasts that was a good one: as long as the longest
// pause before an attempt.
const steady = 5 * time.Minute

// inARow counts a connection that ended for good after so many that did: after a good
// one the pauses begin anew.
func inARow(before int, lasted time.Duration) int {
	if lasted >= steady {
		return 1
	}
	return before + 1
}

// over connects, takes part until the connection ends for good, and closes it.
func (c *Client) over(ctx context.Context, d *dialer) (*nats.Conn, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c.connect(nil, d)
	// A client that waits for an announcement would not notice before it asks.
	closed := nats.ClosedHandler(func(*nats.Conn) { end(bus.ErrClosed) })
	opts := append(c.options(ctx, d), closed, func(o *nats.Options) error {
		o.Servers = c.settings.urls()
		return nil
	})
	nc, err := nats.Connect("", opts...)
	if err != nil {
		return nil, &fault{connectCode(err), err}
	}
	defer nc.Close()
	c.connect(nc, d)
	return nc, c.inner.Run(ctx)
}

// connect takes a connection into use, or the last one out of it. It does not ask the
// connection anything: that waits for an attempt to connect that is under way.
func (c *Client) connect(nc *nats.Conn, d *dialer) {
	if nc == nil {
		c.link.set(nil)
	} else {
		c.link.set(bus.NATS(nc))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nc, c.dialer = nc, d
	if nc == nil {
		c.seen.online = false
	}
}

// start takes the client for one Run.
func (c *Client) start(cancel context.CancelCauseFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped:
		return faultf(CodeStopped, "Stop was called: make another client")
	case c.cancel != nil:
		return faultf(CodeRunning, "Run has not returned: one at a time")
	}
	c.cancel = cancel
	return nil
}

// ran ends what start began.
func (c *Client) ran() {
	n, rounds := c.inner.Record() // the last may have come untold, and Load tells of none
	c.mu.Lock()
	c.cancel = nil
	c.seen.record, c.seen.round, c.seen.last = n, rounds, max(c.seen.last, n)
	stopped := c.stopped
	c.mu.Unlock()
	c.tellState("")
	c.tellProgress()
	c.events.settle(listenerPatience)
	if stopped {
		c.finish()
	}
}

// finish releases what is the app's. Bindings hold an object of the app's for as long
// as its Go value lives, so that is collected now.
func (c *Client) finish() {
	c.events.release()
	c.device.release()
	runtime.GC()
}

// fail ends Run with an error.
func (c *Client) fail(err error) {
	c.mu.Lock()
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel(err)
	}
}

// open takes the StateDir, until close is called.
func (c *Client) open() error {
	if c.shelf == nil {
		return nil
	}
	return c.shelf.open()
}

func (c *Client) close() {
	if c.shelf != nil {
		_ = c.shelf.Close() // nothing waits to be written
	}
}

// Load reads the state that StateDir has, so that Params has the model without a Run:
// at the start of an app, while it is offline, or after another client of the same
// device, such as a background worker's, had the directory. Errors have [CodeLocked],
// [CodeStore], [CodeRunKey] or [CodeRunning].
func (c *Client) Load() (err error) {
	defer guard(&err)
	if !c.made() {
		return errUnmade
	}
	if err := c.start(func(error) {}); err != nil {
		return err
	}
	defer c.ran()
	if err := c.open(); err != nil {
		return err
	}
	defer c.close()
	return coded(c.inner.Load())
}
