//go:build unix

package jetstream

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/testing/servers"
)

// TestLeaderLost appends records while it kills and stops servers. The servers store every
// acknowledged record exactly once.
func TestLeaderLost(t *testing.T) {
	t.Parallel()
	faults := map[string]func(t *testing.T, s *servers.Server, recovered func()){
		"killed": func(t *testing.T, s *servers.Server, recovered func()) {
			s.Kill()
			recovered()
			s.Restart(t)
		},
		"stopped": func(t *testing.T, s *servers.Server, recovered func()) {
			s.Pause()
			recovered()
			s.Continue()
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := places["cluster"](t)
			log := p.openFor(t, "lost", leaseTTL)
			begin(t, log)
			w := write(t, log, newChain(t, "lost"))
			for range *lostLeaders {
				leader := p.cluster.Leader(t, "ZO_lost_LOG")
				began := time.Now()
				fault(t, leader, func() { t.Logf("the next record was stored after %v", w.more(2).Sub(began)) })
				w.more(50)
			}
			w.stop()
			w.chain.check(log)
			w.chain.check(p.open(t, "lost"))
		})
	}
}

// TestStaleLeader stops a server that led the log while another server accepts records. If the
// stopped server has not heard of these records, a coordinator that begins does not trust the
// server's answers.
func TestStaleLeader(t *testing.T) {
	t.Parallel()
	p := places["cluster"](t)
	c := newChain(t, "stale")
	for range *lostLeaders {
		first := p.openFor(t, "stale", leaseTTL)
		begin(t, first)
		more := func(count int) {
			for range count {
				record := c.add(c.next(0.5))
				if err := insist(t.Context(), first, uint64(len(c.records)), record); err != nil {
					t.Fatal(err)
				}
			}
		}
		more(5)
		leader := p.cluster.Leader(t, "ZO_stale_LOG")
		there := place{url: leader.URL, replicas: p.replicas}
		nc := there.connect(t, nats.IgnoreDiscoveredServers(), nats.PingInterval(time.Minute))
		second, err := there.tryOpen(t,
			jetlog.Config{Conn: nc, Run: "stale", LeaseTTL: leaseTTL})
		if err != nil {
			t.Fatal(err)
		}
		leader.Pause()
		more(40)
		closeLog(t, first)
		began, sent := make(chan error, 1), nc.Stats().OutMsgs
		go func() {
			_, err := second.Begin(t.Context())
			began <- err
		}()
		servers.Eventually(t, "a question that waits for the server", func() error {
			if nc.Stats().OutMsgs == sent {
				return errors.New("nothing is sent")
			}
			return nil
		})
		leader.Continue()
		if err := <-began; err != nil {
			t.Fatal(err)
		}
		c.check(second)
		closeLog(t, second)
	}
}

// TestServerKilled checks that a single killed server loses no acknowledged record.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	p := places["server"](t)
	log := p.open(t, "killed")
	w := write(t, log, newChain(t, "killed"))
	for range 3 * *lostLeaders {
		w.more(20)
		p.cluster.Servers[0].Kill()
		p.cluster.Servers[0].Restart(t)
	}
	w.more(20)
	w.stop()
	w.chain.check(log)
	w.chain.check(p.open(t, "killed"))
}

// A writer appends records until the test stops it, and retries each record until the log has
// stored it.
type writer struct {
	chain  *chain
	stored chan time.Time // times at which records were stored
	quit   chan struct{}
	done   chan struct{}
}

func write(t *testing.T, log runlog.Log, c *chain) *writer {
	w := &writer{chain: c, stored: make(chan time.Time), quit: make(chan struct{}),
		done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for n := uint64(1); ; n++ {
			if err := insist(t.Context(), log, n, c.add(c.next(0.5))); err != nil {
				t.Error(err)
				return
			}
			select {
			case w.stored <- time.Now():
			case <-w.quit:
				return
			}
		}
	}()
	return w
}

// insist appends a record until the log has stored it. An election takes longer than the short
// lease of these tests, so the coordinator loses the lease and takes it again.
func insist(ctx context.Context, log runlog.Log, n uint64, record []byte) error {
	for {
		err := log.Append(ctx, n, record)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, runlog.ErrDeposed):
			if _, err := log.Begin(ctx); err != nil {
				return err
			}
		case errors.Is(err, runlog.ErrCorrupt),
			errors.Is(err, runlog.ErrOrder), ctx.Err() != nil:
			return err
		}
	}
}

// more waits until the log has stored count more records, and returns the time of the last.
func (w *writer) more(count int) (at time.Time) {
	for range count {
		select {
		case at = <-w.stored:
		case <-w.done:
			return at
		}
	}
	return at
}

func (w *writer) stop() {
	close(w.quit)
	<-w.done
}
