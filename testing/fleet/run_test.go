package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/bowl"
)

// patience is the time limit of every run of these tests.
const patience = 4 * time.Minute

// until waits for a condition that becomes true without further action.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// A lead is a broker and a coordinator with its log on disk.
type lead struct {
	t      *testing.T
	broker *broker.Broker
	log    runlog.Log
	c      *coordinator.Coordinator
	events chan report.Event
	ended  sync.WaitGroup
	stop   context.CancelCauseFunc
	err    error
}

// startLead starts broker and coordinator for a plan.
func startLead(t *testing.T, p *plan.Plan, cfg broker.Config,
	edits ...func(*coordinator.Config)) *lead {
	t.Helper()
	leads := coordinator.Config{Plan: p}
	for _, edit := range edits {
		edit(&leads)
	}
	return startLeadWith(t, cfg, leads)
}

// startLeadWith does the same as startLead with more of the coordinator's configuration.
func startLeadWith(t *testing.T, cfg broker.Config, leads coordinator.Config) *lead {
	t.Helper()
	l := &lead{t: t, events: make(chan report.Event, 100_000)}
	var err error
	if l.broker, err = broker.Run(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.broker.Shutdown)
	if l.log, err = filelog.Open(t.TempDir() + "/log"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.log.Close() })
	nc := l.connect("coordinator")
	leads.Conn, leads.Log, leads.Linger = nc, l.log, patience
	leads.Recorder = report.RecorderFunc(func(e report.Event) error {
		l.events <- e
		return nil
	})
	l.c, err = coordinator.New(t.Context(), leads)
	if err != nil {
		t.Fatal(err)
	}
	// The context has no time limit: the tests that wait have one, and a busy machine is slow.
	ctx, stop := context.WithCancelCause(context.Background())
	l.stop = stop
	l.ended.Go(func() { l.err = l.c.Run(ctx) })
	t.Cleanup(func() { l.finish() })
	return l
}

var errFinished = errors.New("test is finished")

// finish stops the coordinator and checks its result.
func (l *lead) finish() {
	l.stop(errFinished)
	l.ended.Wait()
	if l.err != nil && !errors.Is(l.err, errFinished) {
		l.t.Errorf("coordinator: %v", l.err)
	}
}

func (l *lead) connect(name string) *nats.Conn {
	l.t.Helper()
	nc, _, err := l.broker.Connect(name)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(nc.Close)
	return nc
}

// witness replays the log.
func (l *lead) witness(run string) *replica.Replica {
	l.t.Helper()
	w := replica.New(replica.Config{Run: run, RunKey: secret}) // some runs have a secret
	err := l.log.Read(l.t.Context(), 1, func(n uint64, record []byte) bool {
		if err := w.Apply(record); err != nil {
			l.t.Errorf("log, record %d: %v", n, err)
			return false
		}
		return true
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return w
}

// testPlan returns a plan for n devices in which every round waits for all devices.
func testPlan(t *testing.T, run string, dim uint64, n uint32, rounds uint64) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", run, dim)
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.Target, p.Quorum, p.Rounds = n, n, n, rounds
	p.StepSize = 0.05
	return p
}

// devices runs one client per connection in this process. devices returns the clients after the end
// of the run.
func (l *lead) devices(run string, conns []*nats.Conn, dim int,
	edits ...func(*client.Config)) []*client.Client {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	clients := make([]*client.Client, len(conns))
	var all sync.WaitGroup
	for i, nc := range conns {
		cfg := client.Config{
			Conn: nc, Run: run, ID: fmt.Sprintf("d%d", i), Objective: objective.Func(dim, bowl.Of(i)),
		}
		for _, edit := range edits {
			edit(&cfg)
		}
		c, err := client.New(cfg)
		if err != nil {
			l.t.Fatal(err)
		}
		clients[i] = c
		all.Go(func() {
			if err := c.Run(ctx); err != nil {
				l.t.Errorf("device %d: %v", i, err)
			}
		})
	}
	all.Wait()
	return clients
}

// agree checks that all clients hold the state of the log.
func (l *lead) agree(run string, clients []*client.Client) {
	l.t.Helper()
	w := l.witness(run)
	for i, c := range clients {
		if n, digest := c.Digest(); n != w.N() || digest != w.Digest() {
			l.t.Errorf("device %d: digest %x after record %d, want the log's %x after %d",
				i, digest, n, w.Digest(), w.N())
		}
	}
}
