package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
)

// A meter counts the messages on a bus.
type meter struct {
	*bus.Memory

	mu                     sync.Mutex // guards what follows
	announced, announcedBy int        // announcements, and their bytes
	replies                int
	requests               int
}

func (m *meter) Publish(subject string, data []byte) error {
	m.mu.Lock()
	switch {
	case strings.Contains(subject, ".a."):
		m.announced, m.announcedBy = m.announced+1, m.announcedBy+len(data)
	case strings.Contains(subject, ".p."):
		m.replies++
	}
	m.mu.Unlock()
	return m.Memory.Publish(subject, data)
}

func (m *meter) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	m.mu.Lock()
	if m.replies > 3 { // how often devices ask as they start is chance
		m.requests++
	}
	m.mu.Unlock()
	return m.Memory.Request(ctx, subject, data)
}

// slowRun runs four rounds on two devices whose loss takes the given time; the second device needs
// twice as long. slowRun returns the messages on the bus, and the coordinator with its counters.
func slowRun(t *testing.T, p *plan.Plan, takes time.Duration) (
	m *meter, lead *coordinator.Coordinator,
) {
	t.Helper()
	ctx := t.Context()
	m = &meter{Memory: bus.NewMemory()}
	defer m.Close()
	lead, err := coordinator.New(ctx, coordinator.Config{Bus: m, Plan: p, Log: &runlog.Memory{},
		Linger: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var devices sync.WaitGroup
	for i := range 2 {
		devices.Go(func() {
			d, err := client.New(client.Config{Bus: m, Run: p.Run, ID: fmt.Sprint("d", i),
				Objective: objective.Func(int(p.Dim), func(ctx context.Context, x []float32,
					_ objective.Batch) (float64, error) {
					// A central difference calls it twice.
					time.Sleep(takes / 2 * time.Duration(1+i) / 2)
					return float64(x[0]*x[0]) + 1, nil
				})})
			if err == nil {
				err = d.Run(ctx)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := lead.Run(ctx); err != nil {
		t.Error(err)
	}
	devices.Wait()
	return m, lead
}

// TestSlowLoss: a slow round costs only the repeated announcements that `zofl plan` counts. Each
// device replies once, and the coordinator counts no reply as late or dropped. No device asks for
// the state of the run, although the coordinator announces nothing for a while.
func TestSlowLoss(t *testing.T) {
	const rounds = 4
	newPlan := func() *plan.Plan {
		p, err := preset.New("decomfl", "slow", 8)
		if err != nil {
			t.Fatal(err)
		}
		p.Members, p.Target, p.Quorum, p.Rounds, p.Deadline = 2, 2, 2, rounds, 600_000
		p.Perturbations, p.Difference = 1, plan.Central
		return p
	}
	var quick *meter
	synctest.Test(t, func(t *testing.T) { quick, _ = slowRun(t, newPlan(), 0) })
	// Of the first round nobody knows how long it takes.
	first := map[time.Duration]int{11 * time.Second: 1, 33 * time.Second: 2, 290 * time.Second: 7}
	for takes := range first {
		synctest.Test(t, func(t *testing.T) {
			p := newPlan()
			m, lead := slowRun(t, p, takes)
			n := lead.Status().Counters
			if n.Contributions != 2*rounds || n.Repeated != 0 || n.Dropped() != 0 {
				t.Errorf("%v: %d contributions, %d repeated, %d dropped: %v", takes,
					n.Contributions, n.Repeated, n.Dropped(), n.Drops())
			}
			if m.replies != quick.replies || m.requests != quick.requests {
				t.Errorf("%v: %d replies and %d requests, with a quick loss %d and %d", takes,
					m.replies, m.requests, quick.replies, quick.requests)
			}
			repeats, most := cost.Repeats(p, uint64(takes.Milliseconds())), 0
			want := first[takes] + (rounds-1)*repeats
			if got := m.announced - quick.announced; got != want {
				t.Errorf("%v: %d announcements are repeated, want %d", takes, got, want)
			}
			most += first[takes] * cost.Of(p, cost.Input{Round: 1}).Repeat.Payload
			for round := range uint64(rounds - 1) {
				most += repeats * cost.Of(p, cost.Input{Round: 2 + round}).Repeat.Payload
			}
			if got := m.announcedBy - quick.announcedBy; got > most || got < most*9/10 {
				t.Errorf("%v: repetitions take %d bytes, the plan says %d", takes, got, most)
			}
		})
	}
}
