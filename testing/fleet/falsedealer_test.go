package fleet

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/secagg"
)

// A liarBus is the bus of a device that lies in the steps of secure aggregation.
type liarBus struct {
	bus.Bus
	step string // the subject of its steps
	lie  func(r *secagg.Request)
}

// Request sends what the device says, or the lie.
func (l *liarBus) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if r, err := secagg.DecodeRequest(data); err == nil && subject == l.step && len(r.Body) > 0 {
		r.Body = append([]byte(nil), r.Body...)
		l.lie(&r)
		data = r.Append(nil)
	}
	return l.Bus.Request(ctx, subject, data)
}

// A waitingBus is the bus of a device that helps to unmask after the liar has told its lie: the
// coordinator takes the first answers that suffice, and hears no others.
type waitingBus struct {
	bus.Bus
	step string
	told <-chan struct{}
}

// Request sends what the device says.
func (w *waitingBus) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	r, err := secagg.DecodeRequest(data)
	if err == nil && subject == w.step && r.Step == secagg.StepUnmask {
		select {
		case <-w.told:
			time.Sleep(10 * time.Millisecond) // the lie is on its way
		case <-time.After(time.Second): // the coordinator did not ask the liar
		}
	}
	return w.Bus.Request(ctx, subject, data)
}

// flips returns a lie: in a step, one byte is false.
func flips(step secagg.Step, at int) func(r *secagg.Request) {
	return func(r *secagg.Request) {
		if r.Step == step {
			r.Body[at] ^= 1
		}
	}
}

// TestFalseDealer: one of seven devices of a real run with secure aggregation and a quorum of six
// lies in every attempt. The run reaches its end with at most two lost attempts, and names the
// device.
func TestFalseDealer(t *testing.T) {
	const commitment, keyTag = 64, 80
	lies := map[string]func(r *secagg.Request){
		"shares that do not fit its commitment": flips(secagg.StepKeys, commitment),
		"a false tag of its keys":               flips(secagg.StepKeys, keyTag),
	}
	if !testing.Short() {
		lies["no box opens"] = func(r *secagg.Request) {
			for i := range r.Body {
				if r.Step == secagg.StepShares {
					r.Body[i] ^= 1
				}
			}
		}
		lies["false answers"] = func(r *secagg.Request) {
			for i := range r.Body {
				if r.Step == secagg.StepUnmask {
					r.Body[i] ^= 1
				}
			}
		}
	}
	for what, lie := range lies {
		t.Run(what, func(t *testing.T) { falseDealer(t, lie, what == "false answers") })
	}
}

// falseDealer runs the devices. If first is true the liar is the first that helps to unmask.
func falseDealer(t *testing.T, lie func(r *secagg.Request), first bool) {
	const n, dim, rounds, liar = 7, 10, 15, "d3"
	p := testPlan(t, "masked", dim, n, rounds)
	p.Secure, p.MaxScalar, p.Bound, p.Quorum, p.Weights = 1, 1000, 0, 6, plan.Equal
	p.EvalEvery, p.EvalCount, p.Metrics, p.Reannounce = 0, 0, nil, 300
	agrees(p)
	l := startLead(t, p, broker.Config{})
	var conns []*nats.Conn
	for i := range n {
		conns = append(conns, l.connect(fmt.Sprintf("d%d", i)))
	}
	told := make(chan struct{})
	tell := sync.OnceFunc(func() { close(told) })
	clients := l.devices("masked", conns, dim, func(c *client.Config) {
		c.RunKey = secret
		step := subjects.Step("masked", c.ID)
		switch {
		case c.ID == liar:
			c.Bus, c.Conn = &liarBus{bus.NATS(c.Conn), step, func(r *secagg.Request) {
				lie(r)
				if r.Step == secagg.StepUnmask {
					tell()
				}
			}}, nil
		case first:
			c.Bus, c.Conn = &waitingBus{bus.NATS(c.Conn), step, told}, nil
		}
	})
	l.agree("masked", clients)
	why := l.c.Status().Suspects[liar]
	if !strings.Contains(why, "`zofl retire d3`") || len(l.c.Status().Suspects) != 1 {
		t.Errorf("the status names %v", l.c.Status().Suspects)
	}
	for _, d := range l.c.Devices() {
		if (d.State == report.DeviceLeftOut) != (d.ID == liar) || d.ID == liar && d.Suspect != why {
			t.Errorf("%s is %v: %q", d.ID, d.State, d.Suspect)
		}
	}
	refused, named := 0, 0
	for range len(l.events) {
		switch e := <-l.events; {
		case e.Kind == report.Refused:
			refused++
		case e.Kind == report.Suspected && e.ID == liar:
			named++
		}
	}
	if refused > 2 || named != 1 {
		t.Errorf("%d attempts were lost, and the device was named %d times", refused, named)
	}
}
