//go:build unix

package fleet

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus/bustest"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/testing/servers"
)

// halfOpenInterval is the interval of announcements. The test allows three intervals; on a busy
// machine a third of one interval is left for work other than waiting.
var halfOpenInterval = flag.Duration("halfopen.interval", 6*time.Second,
	"of announcements in TestHalfOpen; plans have 5s by default")

// A halfOpenRun is a run of two devices and a coordinator over a real broker. One device and the
// coordinator reach the broker through proxies.
type halfOpenRun struct {
	*lead
	device, coordinator *bustest.Proxy
}

func newHalfOpenRun(t *testing.T, url, run string) *halfOpenRun {
	t.Helper()
	server := strings.TrimPrefix(url, "nats://")
	r := &halfOpenRun{lead: &lead{t: t, events: make(chan report.Event, 100_000)},
		device: bustest.NewProxy(t, server), coordinator: bustest.NewProxy(t, server)}
	p := testPlan(t, run, 50, 2, 0)
	p.Reannounce, p.Deadline, p.MaxAttempts = uint32(*halfOpenInterval/time.Millisecond), 600_000, 10
	var err error
	if r.log, err = filelog.Open(t.TempDir() + "/log"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.log.Close() })
	r.c, err = coordinator.New(t.Context(), coordinator.Config{
		Conn: dialed(t, r.coordinator.Address(), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1)),
		Plan: p, Log: r.log,
		Recorder: report.RecorderFunc(func(e report.Event) error {
			select {
			case r.events <- e:
			default:
			}
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	r.stop = stop
	r.ended.Go(func() { r.err = r.c.Run(ctx) })
	for i, address := range []string{r.device.Address(), server} {
		id := fmt.Sprint("d", i)
		c, err := client.New(client.Config{
			Conn: dialed(t, address, client.ConnectOptions(id)...), Run: run, ID: id,
			// a pause, so that a few seconds do not make thousands of rounds
			Objective: objective.Func(50, func(ctx context.Context, x []float32,
				b objective.Batch) (float64, error) {
				time.Sleep(time.Millisecond)
				return bowl.Of(i)(ctx, x, b)
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		r.ended.Go(func() {
			if err := c.Run(ctx); err != nil && err != errFinished {
				t.Errorf("%s: %v", id, err)
			}
		})
	}
	t.Cleanup(r.finish)
	return r
}

func dialed(t *testing.T, address string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("nats://"+address, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// rounds waits for the given number of further rounds.
func (r *halfOpenRun) rounds(n int) {
	r.t.Helper()
	for len(r.events) > 0 {
		<-r.events
	}
	end := time.After(patience)
	for n > 0 {
		select {
		case e := <-r.events:
			if e.Kind == report.RoundDone {
				n--
			}
		case <-end:
			r.t.Fatalf("waited %v for a round", patience)
		}
	}
}

// dialledWithin waits until a party dials a proxy again, and checks that the party did so within
// three intervals.
func (r *halfOpenRun) dialledWithin(p *bustest.Proxy, who string, before int, since time.Time) {
	r.t.Helper()
	servers.Eventually(r.t, who+" to connect again", func() error {
		if n := p.Dialled(); n == before {
			return fmt.Errorf("%d connections", n)
		}
		return nil
	})
	took := time.Since(since)
	r.t.Logf("%s connects again after %.2f intervals", who,
		took.Seconds()/halfOpenInterval.Seconds())
	if took > 3*(*halfOpenInterval) {
		r.t.Errorf("%s noticed after %v, want at most %v", who, took, 3*(*halfOpenInterval))
	}
}

// TestHalfOpen checks a connection that drops all data and stays open. A device and the coordinator
// notice such a connection within three intervals of announcements, and rounds continue.
func TestHalfOpen(t *testing.T) {
	cluster := servers.Start(t, 1)
	for _, tt := range []struct {
		name                string
		device, coordinator bool
		paused              bool
	}{
		{"device", true, false, false},
		{"coordinator", false, true, false},
		{"both", true, true, false},
		{"device of a paused run", true, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newHalfOpenRun(t, cluster.URL(), strings.ReplaceAll(tt.name, " ", "-"))
			r.rounds(5)
			if tt.paused {
				r.c.Pause("test")
			}
			device, lead := r.device.Dialled(), r.coordinator.Dialled()
			since := time.Now()
			if tt.device {
				r.device.Swallow(false)
			}
			if tt.coordinator {
				r.coordinator.Swallow(false)
				r.dialledWithin(r.coordinator, "the coordinator", lead, since)
			}
			if tt.device {
				r.dialledWithin(r.device, "the device", device, since)
			}
			if tt.paused {
				r.c.Resume()
			}
			r.rounds(5)
			t.Logf("rounds go on after %.2f intervals",
				time.Since(since).Seconds()/halfOpenInterval.Seconds())
		})
	}
}
