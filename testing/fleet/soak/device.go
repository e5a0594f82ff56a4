package soak

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus/bustest"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
)

// A mood is how a device's loss behaves. A loss that is already running may still have the device's
// previous mood.
type mood struct {
	kind  moodKind
	takes time.Duration // a slow loss
	freed chan struct{} // closed: hanging losses return
}

type moodKind int

const (
	well moodKind = iota
	fails
	notANumber
	hangs // ignores its context
	slow
	refuses // the policy says no
)

var (
	errLeft = errors.New("the device leaves")
	errMood = errors.New("the loss failed")
)

// A device is a client that stops and returns. One goroutine at a time starts and stops the device.
type device struct {
	id    string
	index int
	dir   string
	proxy *bustest.Proxy
	wrong func(error) // receives errors that must not occur

	mood atomic.Pointer[mood] // nil: the device has no fault

	client  atomic.Pointer[client.Client]
	conn    *nats.Conn
	store   client.Store
	leave   context.CancelCauseFunc
	running sync.WaitGroup
	crashed bool
}

// Dim, Loss and MayWork make a device its client's objective.
func (d *device) Dim() int { return dim }

var _ objective.Policy = (*device)(nil)

func (d *device) MayWork(objective.Work) bool { return d.feels().kind != refuses }

func (d *device) feels() mood {
	if m := d.mood.Load(); m != nil {
		return *m
	}
	return mood{}
}

// Loss is a quadratic with a minimum that differs for each device.
func (d *device) Loss(ctx context.Context, x []float32, _ objective.Batch) (float64, error) {
	takes := takes
	switch m := d.feels(); m.kind {
	case fails:
		return 0, errMood
	case notANumber:
		return math.NaN(), nil
	case hangs:
		<-m.freed
	case slow:
		takes = m.takes
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	sum := 0.0
	for i, v := range x {
		e := float64(v) - float64((i+d.index)%5)
		sum += e * e
	}
	return sum / float64(len(x)), nil
}

// start connects and runs a client on the device's store.
func (d *device) start() (err error) {
	if d.store, err = client.OpenStore(d.dir); err != nil {
		return err
	}
	if d.conn, err = connect(d.proxy, d.id); err != nil {
		return err
	}
	c, err := client.New(client.Config{
		Conn: d.conn, Run: run, ID: d.id, Objective: d, Store: d.store, Workers: 1,
		RequestTimeout: time.Second, RetryMax: time.Second,
		CheckpointInterval: 10 * time.Second,
	})
	if err != nil {
		return err
	}
	d.client.Store(c)
	ctx, leave := context.WithCancelCause(context.Background())
	d.leave, d.crashed = leave, false
	d.running.Go(func() {
		if err := c.Run(ctx); !errors.Is(err, errLeft) && !d.crashed {
			d.wrong(fmt.Errorf("%s: Run returned %v", d.id, err))
		}
	})
	return nil
}

// stop lets the client stop in order.
func (d *device) stop() error {
	d.leave(errLeft)
	d.running.Wait()
	d.conn.Close()
	return d.store.Close()
}

// crash cuts the connection first, so that no party learns of the crash.
func (d *device) crash() error {
	d.proxy.Bar(true)
	defer d.proxy.Bar(false)
	d.crashed = true
	return d.stop()
}

// lose deletes the store of a stopped device.
func (d *device) lose() error { return os.RemoveAll(d.dir) }
