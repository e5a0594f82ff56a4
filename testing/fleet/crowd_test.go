package fleet

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// A crowd is many devices on one connection. All devices answer an announcement at once, with
// meaningless scalars.
type crowd struct {
	t    *testing.T
	nc   *nats.Conn
	plan *plan.Plan
	ids  []string
	sent atomic.Uint64 // messages to the coordinator
}

// join joins all devices and waits for their answers.
func (c *crowd) join() {
	c.t.Helper()
	c.await()
	answers := make(chan *nats.Msg, len(c.ids))
	inbox := nats.NewInbox()
	sub, err := c.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		c.t.Fatal(err)
	}
	defer sub.Unsubscribe()
	frame := (&wire.JoinRequest{}).Append(nil)
	for _, id := range c.ids {
		c.sent.Add(1)
		if err := c.nc.PublishRequest(subjects.Join(c.plan.Run, id), inbox, frame); err != nil {
			c.t.Fatal(err)
		}
	}
	timeout := time.After(patience)
	for range c.ids {
		select {
		case m := <-answers:
			if r, err := wire.DecodeJoinReply(m.Data); err != nil || r.Status != wire.JoinOK {
				c.t.Fatalf("join: %+v, %v", r, err)
			}
		case <-timeout:
			c.t.Fatalf("%d of %d devices got no answer", len(c.ids)-len(answers), len(c.ids))
		}
	}
}

// await waits until the coordinator listens. await requests records; the test does not count these
// requests as sent.
func (c *crowd) await() {
	c.t.Helper()
	frame := (&wire.CatchUpRequest{From: 1, MaxBytes: 1}).Append(nil)
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		_, err := c.nc.Request(subjects.CatchUp(c.plan.Run, "crowd"), frame, patience)
		if err == nil {
			return
		}
		if !errors.Is(err, nats.ErrNoResponders) || time.Since(begun) > patience {
			c.t.Fatal(err)
		}
	}
}

// listen answers every announcement of an open round for all devices.
func (c *crowd) listen() {
	c.t.Helper()
	_, err := c.nc.Subscribe(subjects.Announce(c.plan.Run, 0), func(m *nats.Msg) {
		a, err := compact.Decode(m.Data)
		if err != nil || a.State != wire.Open {
			return
		}
		r := wire.Reply{Kind: wire.Contribution, N: a.N, Tip: a.Tip, Weight: 1, Loss: 1,
			Values: wire.AppendScalars(nil, make([]float32, c.plan.Perturbations)...)}
		a.Records.Each(func(record []byte) bool {
			r.Tip = wire.HashRecord(record).Tip()
			return true
		})
		frame := r.Append(nil)
		for _, id := range c.ids {
			c.sent.Add(1) // count before sending, because the last reply ends the run
			if err := c.nc.Publish(subjects.Reply(c.plan.Run, 0, id), frame); err != nil {
				c.t.Error(err)
				return
			}
		}
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// TestCrowd floods a coordinator with the replies of 5,000 devices at a time. Each round waits for
// all devices, and the coordinator announces each round only once. So one lost message stops the
// run.
func TestCrowd(t *testing.T) {
	const devices, rounds = 5000, 4
	p := testPlan(t, "crowd", 10, devices+1, rounds)
	p.Members, p.Deadline, p.Reannounce = devices, math.MaxUint32, math.MaxUint32
	p.Target, p.Quorum = devices, devices
	l := startLead(t, p, broker.Config{})
	c := &crowd{t: t, nc: l.connect("crowd"), plan: p}
	for i := range devices {
		c.ids = append(c.ids, fmt.Sprintf("d%d", i))
	}
	c.listen() // before round 1 is announced
	c.join()
	timeout := time.After(patience)
	for ended := false; !ended; {
		select {
		case e := <-l.events:
			ended = e.Kind == report.RunEnded
		case <-timeout:
			t.Fatalf("the run stopped: %+v", l.c.Status())
		}
	}
	s := l.c.Status()
	if s.Counters.Contributions != rounds*devices || s.Counters.Joins != devices {
		t.Errorf("counters %+v, want %d contributions and %d joins", s.Counters, rounds*devices,
			devices)
	}
	if got, want := s.Counters.Messages()-s.Counters.CatchUps, c.sent.Load(); got != want {
		t.Errorf("%d messages are in counters, and %d were sent", got, want)
	}
}
