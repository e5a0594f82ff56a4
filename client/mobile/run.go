package mobile

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
)

// The causes with which Run ends without an error.
var (
	errStopped = errors.New("stopped")
	errBudget  = errors.New("the time is up")
)

var errUnmade = faultf(CodeConfig, "make the client with NewClient")

// listenerPatience is how long Run waits for the Listener when it ends.
const listenerPatience = 2 * time.Second

// Run takes part until the run ends or [Client.Stop] is called, and then returns nil. Being
// offline is not an error. Run returns errors that waiting cannot cure: [CodePermission],
// [CodeLoss], [CodeRefused], [CodeDim], [CodeInitial], [CodePlan], [CodeRunKey], [CodeUpgrade],
// [CodeLocked], [CodeStore], [CodeStopped], [CodeRunning], [CodePanic].
func (c *Client) Run() (err error) {
	defer guard(&err)
	if !c.isMade() {
		return errUnmade
	}
	return c.run(context.Background())
}

// RunFor is Run for a number of milliseconds. After that it saves the state in StateDir, closes the
// connection and returns nil; call it again to continue. Time that the device sleeps counts. Use a
// few seconds less than the system allows. [Client.Ended] says whether the run is over.
func (c *Client) RunFor(milliseconds int64) (err error) {
	defer guard(&err)
	switch {
	case !c.isMade():
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
	defer c.finishRun()
	if err := c.open(); err != nil {
		return err
	}
	defer c.close()
	err := c.takePartInTurns(ctx)
	switch cause := context.Cause(ctx); {
	case err == nil, cause == errStopped, cause == errBudget:
		return nil
	case cause != nil: // a handler panicked
		return coded(cause)
	}
	return coded(err)
}

// takePartInTurns takes part in the run, over one connection after another: after an error that
// NATS does not know, the NATS client closes the connection for good.
func (c *Client) takePartInTurns(ctx context.Context) error {
	if err := c.inner.Load(); err != nil { // so the app has the model even without a network
		return err
	}
	c.tellState("")
	c.tellProgress()
	d := &dialer{ctx: ctx, plaintext: c.settings.Plaintext, traffic: &c.traffic, within: dialWithin}
	defer c.connect(nil, nil)
	for ended := 0; ; {
		began := time.Now()
		nc, err := c.takePart(ctx, d)
		if !errors.Is(err, bus.ErrClosed) || ctx.Err() != nil {
			return err
		}
		c.online(ctx, false, nc.LastError())
		c.unreachable(nc.LastError())
		ended = inARow(ended, time.Since(began))
		d.rest(nc.Opts.CustomReconnectDelayCB(ended))
	}
}

// steady is how long a connection must last to count as good: the longest pause between two
// connections.
const steady = 5 * time.Minute

// inARow returns how many connections in a row have ended for good. After a good connection the
// count, and so the pauses, start from the beginning.
func inARow(before int, lasted time.Duration) int {
	if lasted >= steady {
		return 1
	}
	return before + 1
}

// takePart connects, takes part until the connection ends for good, and closes the connection.
func (c *Client) takePart(ctx context.Context, d *dialer) (*nats.Conn, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c.connect(nil, d)
	// Without this handler a client that waits for an announcement would notice the end of the
	// connection only at its next request.
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

// connect sets the current connection, or nil for none. connect calls no method of the connection,
// because the method would wait while NATS tries to connect.
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
		c.status.online = false
	}
}

// start reserves the client for one Run.
func (c *Client) start(cancel context.CancelCauseFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped:
		return faultf(CodeStopped, "Stop was called: make a new client")
	case c.cancel != nil:
		return faultf(CodeRunning, "Run is still running: wait until it returns")
	}
	c.cancel = cancel
	return nil
}

// finishRun ends what start began.
func (c *Client) finishRun() {
	n, rounds := c.inner.Record() // record may lack the last one, and Load reports none
	c.mu.Lock()
	c.cancel = nil
	c.status.record, c.status.round, c.status.last = n, rounds, max(c.status.last, n)
	stopped := c.stopped
	c.mu.Unlock()
	c.tellState("")
	c.tellProgress()
	c.events.settle(listenerPatience)
	if stopped {
		c.finish()
	}
}

// finish releases the app's objects. A binding holds an object of the app until the garbage
// collector collects the object's Go value, so finish runs the collector.
func (c *Client) finish() {
	c.events.release()
	c.device.release()
	runtime.GC()
}

// fail makes a Run that is in progress end with an error.
func (c *Client) fail(err error) {
	c.mu.Lock()
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel(err)
	}
}

// open opens the StateDir, until close is called.
func (c *Client) open() error {
	if c.dir == nil {
		return nil
	}
	err := c.dir.Open()
	if errors.Is(err, client.ErrStoreLocked) {
		return &fault{CodeLocked, err}
	} else if err != nil {
		return &fault{CodeStore, err}
	}
	return nil
}

func (c *Client) close() {
	if c.dir != nil {
		_ = c.dir.Close() // no write is pending
	}
}

// Load reads the state in StateDir, so that Params has the model without a Run. Call it when the
// app starts, while it is offline, or after another client of the same device, such as that of a
// background worker, used the directory. Errors have [CodeLocked], [CodeStore], [CodeDim],
// [CodeInitial], [CodeRunKey] or [CodeRunning].
func (c *Client) Load() (err error) {
	defer guard(&err)
	if !c.isMade() {
		return errUnmade
	}
	if err := c.start(func(error) {}); err != nil {
		return err
	}
	defer c.finishRun()
	if err := c.open(); err != nil {
		return err
	}
	defer c.close()
	return coded(c.inner.Load())
}
