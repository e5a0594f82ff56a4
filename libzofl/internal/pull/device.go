package pull

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
)

// A Device takes part in a run for an app that asks for its next task. All methods may be called
// from any goroutine.
type Device struct {
	cfg   Config
	store client.Store // nil: memory only
	stop  context.CancelFunc
	over  chan struct{} // closed when the client has ended

	mu      sync.Mutex // guards what follows
	client  *client.Client
	conn    *nats.Conn
	changed chan struct{} // closed and replaced when task or ended changes
	task    *task         // that waits for the app; nil: none
	paused  bool
	ended   bool  // the client has ended, with err
	err     error // nil: the run is over
	last    error // the last fault that the client survived; nil: none since it went on
	plan    *plan.Plan
}

// open begins to take part.
func open(cfg Config) (d *Device, err error) {
	if err := cfg.settle(); err != nil {
		return nil, err
	}
	d = &Device{cfg: cfg, over: make(chan struct{}), changed: make(chan struct{})}
	if err := d.try(); err != nil {
		return nil, err
	}
	if cfg.Store != "" {
		if d.store, err = client.OpenStore(cfg.Store); err != nil {
			return nil, &fault{Store, fmt.Errorf("store %s: %w", cfg.Store, err)}
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	go func() {
		defer close(d.over)
		defer stop()
		err := d.guarded(ctx)
		if err != nil && ctx.Err() != nil {
			err = errClosed
		}
		if d.store != nil {
			err = errors.Join(err, d.store.Close())
		}
		d.end(err)
	}()
	return d, nil
}

var errClosed = faultf(BadHandle, "the handle was closed meanwhile")

// try makes a client that never connects, so that a mistake in the settings is told at once.
func (d *Device) try() error {
	config := d.cfg.client(d)
	config.Bus = nowhere{}
	if _, err := client.New(config); err != nil {
		return err
	}
	// An option that cannot be used fails before NATS connects, and else the dialer does.
	opts := append(d.cfg.options(), nats.RetryOnFailedConnect(false), nats.SetCustomDialer(nowhere{}))
	if nc, err := nats.Connect(d.cfg.URL, opts...); err == nil {
		nc.Close()
	} else if !errors.Is(err, errNowhere) && !errors.Is(err, nats.ErrNoServers) {
		return badConfig("%w", err)
	}
	return nil
}

// guarded is run, which cannot panic.
func (d *Device) guarded(ctx context.Context) (err error) {
	defer Guard(&err)
	return d.run(ctx)
}

// close ends the device: the coordinator hears of it, and the store has all. It returns when that
// is done.
func (d *Device) close() {
	d.stop()
	<-d.over
}

// connected notes the client over a new connection.
func (d *Device) connected(c *client.Client, nc *nats.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.client, d.conn = c, nc
}

// record notes the client's progress.
func (d *Device) record(p client.Progress) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paused = p.State == client.Paused
	if p.Err != nil || p.State == client.Working {
		d.last = p.Err
	}
	return nil
}

// accept notes the plan, and takes part in it.
func (d *Device) accept(p *plan.Plan) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plan = p
	return nil
}

func (d *Device) end(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended, d.err, d.task = true, err, nil
	d.change()
}

// change wakes those who wait in Poll. The caller holds mu.
func (d *Device) change() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// Forever is a timeout of Poll that never comes.
const Forever = time.Duration(math.MaxInt64)

// Poll waits for a task, the end of the run or an error, at most for a time.
func (d *Device) Poll(timeout time.Duration) (Code, Task, error) {
	var timer <-chan time.Time
	for {
		code, task, changed, err := d.next()
		if code != Wait && code != Paused || err != nil || timeout <= 0 {
			return code, task, err
		}
		if timer == nil && timeout != Forever {
			t := time.NewTimer(timeout)
			defer t.Stop()
			timer = t.C
		}
		select {
		case <-changed:
		case <-timer:
			timeout = 0
		}
	}
}

// next returns what there is to do now, and the channel that is closed when that changes.
func (d *Device) next() (code Code, t Task, changed <-chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ended && d.err != nil:
		return Of(d.err), t, nil, d.err
	case d.ended:
		return Ended, t, nil, nil
	case d.task != nil:
		return Evaluate, d.task.describe(), nil, nil
	case d.paused:
		return Paused, t, d.changed, nil
	}
	return Wait, t, d.changed, nil
}

// Why returns why the device does not work: its final error, the last fault since it worked, or why
// there is no connection. "" means that nothing is wrong.
func (d *Device) Why() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.err != nil:
		return Text(d.err)
	case d.conn != nil && !d.ended && !d.conn.IsConnected():
		if err := d.conn.LastError(); err != nil {
			return "no connection: " + Text(err)
		}
		return "no connection"
	case d.last != nil:
		return Text(d.last)
	}
	return ""
}

// Segment returns where the plan's segment of a name is.
func (d *Device) Segment(name string) (off, length uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.plan == nil {
		return 0, 0, faultf(State, "no plan yet: the first ZOFL_EVALUATE brings it")
	}
	for _, s := range d.plan.Segments {
		if s.Name == name {
			return off, s.Len, nil
		}
		off += s.Len
	}
	return 0, 0, faultf(Value, "name: the plan has no segment %q", name)
}

// Records returns the last record in the model, and the rounds up to it.
func (d *Device) Records() (n, rounds uint64) {
	if c := d.current(); c != nil {
		return c.Record()
	}
	return 0, 0
}

// Digest returns the digest of the device's state.
func (d *Device) Digest() (digest [32]byte, err error) {
	if c := d.current(); c != nil {
		if n, digest := c.Digest(); n > 0 {
			return digest, nil
		}
	}
	return digest, errNoModel
}

var errNoModel = faultf(State, "no model yet: it begins with the first record")

func (d *Device) current() *client.Client {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.client
}
