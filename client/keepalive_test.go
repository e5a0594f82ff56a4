package client_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// A halfOpen bus drops all messages while it is dead, without an error. A reconnect cures a
// halfOpen bus, unless it is incurable. The bus notes what would wake a radio: checks, requests and
// messages sent.
type halfOpen struct {
	*bus.Memory
	incurable bool

	mu         sync.Mutex // guards what follows
	dead       bool
	sent       int
	reconnects []time.Time
}

func (o *halfOpen) kill(dead bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dead = dead
}

// send notes that the device sends something, and says whether the bus drops it.
func (o *halfOpen) send() (swallowed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent++
	return o.dead
}

// seen returns how many messages the device sent since the last call, and when the bus connected
// again.
func (o *halfOpen) seen() (sent int, reconnects []time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sent, o.sent = o.sent, 0
	reconnects, o.reconnects = o.reconnects, nil
	return sent, reconnects
}

func (o *halfOpen) Publish(subject string, data []byte) error {
	if o.send() {
		return nil
	}
	return o.Memory.Publish(subject, data)
}

func (o *halfOpen) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if o.send() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return o.Memory.Request(ctx, subject, data)
}

func (o *halfOpen) Check(ctx context.Context, subject string) error {
	if o.send() {
		<-ctx.Done()
		return ctx.Err()
	}
	return o.Memory.Check(ctx, subject)
}

func (o *halfOpen) Subscribe(
	subject string, handle func(bus.Message),
) (bus.Subscription, error) {
	return o.Memory.Subscribe(subject, func(m bus.Message) {
		o.mu.Lock()
		dead := o.dead
		o.mu.Unlock()
		if !dead {
			handle(m)
		}
	})
}

func (o *halfOpen) Reconnect() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dead = o.dead && o.incurable
	o.reconnects = append(o.reconnects, time.Now())
	return nil
}

// halfOpenDevice starts a device over a halfOpen bus.
func (h *host) halfOpenDevice(id string, incurable bool) (*device, *halfOpen) {
	h.t.Helper()
	o := &halfOpen{Memory: h.bus, incurable: incurable}
	d := h.device(id, bowlLoss(small, 0), func(c *client.Config) { c.Bus = o })
	return d, o
}

// repeat announces every interval for a while.
func (h *host) repeat(every, during time.Duration, edits ...func(*wire.Announcement)) {
	for range during / every {
		h.announce(edits...)
		pass(every)
	}
}

func paused(a *wire.Announcement) { a.State, a.Reason = wire.Paused, "by an operator" }

// A device notices a half-open connection within three intervals of the last announcement, and
// devices do not notice it at the same time. Once it has a good connection, the device asks how far
// the run is, so it need not wait for the next announcement.
func TestHalfOpen(t *testing.T) {
	for _, reannounce := range []uint32{1000, 5000, 600_000} {
		bubble(t, func(t *testing.T) {
			p := testPlan(small)
			p.Reannounce = reannounce
			every := time.Duration(reannounce) * time.Millisecond
			h := newHost(t, p)
			var all []*halfOpen
			var devices []*device
			for i := range 10 {
				d, o := h.halfOpenDevice(fmt.Sprint("d", i), false)
				devices, all = append(devices, d), append(all, o)
			}
			h.repeat(every, 3*every, paused)
			pass(0)
			for _, o := range all {
				o.kill(true)
				o.seen()
			}
			began := time.Now().Add(-every) // the last announcement
			h.commit()
			a := h.announcement()
			a.Records = wire.Records{}
			h.mu.Lock()
			h.inForce = a.Append(nil)
			h.mu.Unlock()
			pass(3*every - time.Since(began))
			first, last := time.Now(), began
			for i, o := range all {
				_, reconnects := o.seen()
				if len(reconnects) != 1 {
					t.Fatalf("%v: device %d: %d reconnects, want 1", every, i, len(reconnects))
				}
				if at := reconnects[0]; at.Before(first) {
					first = at
				}
				if at := reconnects[0]; at.After(last) {
					last = at
				}
			}
			if spread := last.Sub(first); spread < every/10 {
				t.Errorf("%v: all devices reset within %v, want them spread", every, spread)
			}
			if n := len(by(h.take(), wire.Contribution)); n != len(all) {
				t.Errorf("%v: %d contributions, want one of each device that is back", every, n)
			}
			for _, d := range devices {
				d.stop()
			}
		})
	}
}

// If a connection dies while the app computes, the device notices that before the app is done.
func TestHalfOpenWhileWorking(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		query := 8 * time.Second // 24 s of 30
		o.mood = slow(&query)
		dead := &halfOpen{Memory: h.bus}
		d := h.device("d0", o, func(c *client.Config) { c.Bus = dead })
		h.announce()
		dead.kill(true)
		dead.seen()
		pass(15 * time.Second)
		if _, reconnects := dead.seen(); len(reconnects) != 1 {
			t.Errorf("%d reconnects during the work, want 1", len(reconnects))
		}
		pass(9 * time.Second)
		h.one(wire.Contribution)
		d.stop()
	})
}

// If new connections are dead as well, a device tries to connect less and less often. After the
// first announcement the pauses are short again.
func TestHalfOpenForLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d, o := h.halfOpenDevice("d0", true)
		h.repeat(5*time.Second, time.Minute, paused)
		o.kill(true)
		o.seen()
		pass(time.Hour)
		_, reconnects := o.seen()
		if n := len(reconnects); n < 5 || n > 20 {
			t.Errorf("%d reconnects in an hour, want some", n)
		}
		for i := range reconnects[2:] {
			before := reconnects[i+1].Sub(reconnects[i])
			after := reconnects[i+2].Sub(reconnects[i+1])
			if after < before && before < 5*time.Minute {
				t.Errorf("a pause of %v after one of %v", after, before)
			}
		}
		o.kill(false)
		h.repeat(5*time.Second, time.Minute, paused)
		o.kill(true)
		o.seen()
		pass(15 * time.Second)
		if _, reconnects := o.seen(); len(reconnects) != 1 {
			t.Errorf("%d reconnects after an announcement was heard, want 1", len(reconnects))
		}
		o.kill(false) // then sending the goodbye takes no time
		d.stop()
	})
}

// A device that hears announcements sends nothing to check its connection. If the coordinator is
// gone and the broker answers, a device keeps its connection, and asks no more often than every 15
// s.
func TestQuietSendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d, o := h.halfOpenDevice("d0", false)
		h.repeat(5*time.Second, time.Minute, paused)
		o.seen()
		h.repeat(5*time.Second, time.Hour, paused)
		if sent, reconnects := o.seen(); sent > 0 || len(reconnects) > 0 {
			t.Errorf("%d messages and %d reconnects in an hour, want none", sent, len(reconnects))
		}
		h.answers(func(bus.Message) bool { return true })
		pass(time.Hour)
		sent, reconnects := o.seen() // a check and a join each time
		if most := 2 * (3600/15 + 1); sent > most || len(reconnects) > 0 {
			t.Errorf("%d messages, %d reconnects in an hour of silence, want at most %d and none",
				sent, len(reconnects), most)
		}
		if p := d.now(); !errors.Is(p.Err, client.ErrQuiet) {
			t.Errorf("progress %+v, want %v", p, client.ErrQuiet)
		}
		d.stop()
	})
}

// A coordinator that answers is there, even if it announces nothing, as before round 1. The device
// says for whom the run waits. Once nobody answers, the device hears no coordinator.
func TestWaitingIsNotQuiet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Members = 10
		h := newHost(t, p)
		devices := []*device{h.device("d0", newMoody(t)),
			h.device("w", nil, func(c *client.Config) { c.Passive = &client.Passive{} })}
		pass(time.Hour)
		reason := ""
		for i, d := range devices {
			for _, p := range d.progress() {
				if p.Err != nil || p.State != client.Waiting && p.State != client.CatchingUp {
					t.Errorf("device %d: progress %+v while a coordinator answers", i, p)
				}
				reason = cmp.Or(reason, p.Reason)
			}
		}
		if reason != "at least 1 of 10 devices have joined, and round 1 waits for all" {
			t.Errorf("the run waits for %q", reason)
		}
		h.answers(func(bus.Message) bool { return true })
		pass(time.Minute)
		for i, d := range devices {
			if p := d.now(); !errors.Is(p.Err, client.ErrQuiet) {
				t.Errorf("device %d: progress %+v, want %v", i, p, client.ErrQuiet)
			}
		}
		for _, d := range devices {
			d.stop()
		}
	})
}
