package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

type offline struct {
	*bus.Memory
	down atomic.Bool
}

func (o *offline) Publish(subject string, data []byte) error {
	if o.down.Load() {
		return bus.ErrOffline
	}
	return o.Memory.Publish(subject, data)
}

func (o *offline) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if o.down.Load() {
		return nil, bus.ErrOffline
	}
	return o.Memory.Request(ctx, subject, data)
}

func (o *offline) Check(ctx context.Context, subject string) error {
	if o.down.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return o.Memory.Check(ctx, subject)
}

// Being offline is no error: Run reports it, waits, and continues.
func TestOffline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		o := &offline{Memory: h.bus}
		o.down.Store(true)
		d := h.device("d0", bowlLoss(small, 0), func(c *client.Config) { c.Bus = o })
		pass(time.Minute)
		if p := d.now(); p.State != client.Joining || !errors.Is(p.Err, bus.ErrOffline) {
			t.Errorf("progress %+v, want joining and %v", p, bus.ErrOffline)
		}
		o.down.Store(false)
		pass(time.Minute)
		o.down.Store(true)
		h.announce()
		h.silent() // the reply was lost
		pass(time.Hour)
		if p := d.now(); p.State != client.Waiting || p.Err == nil {
			t.Errorf("progress %+v, want waiting and an error", p)
		}
		h.commit()
		h.commit()
		h.announce()          // arrives; the catch-up fails
		pass(5 * time.Second) // a request may be under way
		if p := d.now(); p.State != client.CatchingUp || !errors.Is(p.Err, bus.ErrOffline) {
			t.Errorf("progress %+v, want catching up and %v", p, bus.ErrOffline)
		}
		o.down.Store(false)
		h.announce()
		pass(10 * time.Second) // the device may be in a pause
		if replies := h.take(); len(by(replies, wire.Contribution)) != 1 {
			t.Errorf("got %s, want a contribution", kinds(replies))
		}
		h.agrees(d, h.last())
	})
}

// down is a bus whose connection is down, and known to be.
type down struct{ offline }

func (d *down) Check(ctx context.Context, subject string) error {
	if d.down.Load() {
		return bus.ErrOffline
	}
	return d.Memory.Check(ctx, subject)
}

// Devices whose connection was down while they started join as soon as it is back, however long it
// was down, and not all at the same moment. They report once that they are offline.
func TestJoinAfterOffline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const devices = 20
		h := newHost(t, testPlan(small))
		d := &down{offline: offline{Memory: h.bus}}
		d.down.Store(true)
		var joined []time.Time
		var told int
		for i := range devices {
			h.device(fmt.Sprint("d", i), bowlLoss(small, 0), func(c *client.Config) {
				c.Bus = d
				c.Recorder = client.RecorderFunc(func(p client.Progress) error {
					if p.State == client.Waiting {
						joined = append(joined, time.Now())
					} else {
						told++
					}
					return nil
				})
			})
		}
		pass(10 * time.Minute)
		if told != devices {
			t.Errorf("%d devices told %d times that they are offline", devices, told)
		}
		back := time.Now()
		d.down.Store(false)
		pass(5 * time.Second)
		if len(joined) != devices {
			t.Fatalf("%d of %d devices joined within 5 s", len(joined), devices)
		}
		slices.SortFunc(joined, time.Time.Compare)
		if len(slices.Compact(joined)) < devices/2 || joined[devices-1].Sub(back) > 4*time.Second {
			t.Errorf("they joined at %v", joined)
		}
	})
}
