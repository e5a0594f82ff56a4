package client_test

import (
	"context"
	"errors"
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
