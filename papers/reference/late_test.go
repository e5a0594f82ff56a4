package reference

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// lateRounds is the number of rounds of the runs in this file.
const lateRounds = 9

// latePlans are the settings of runs with late work.
var latePlans = []map[string]string{
	{},
	{"steps": "3", "prox": "0.5", "weights": "samples", "max_weight": "100"},
	{"distribution": "sphere", "async": "on", "steps": "2"},
	{"sharing": "per-client", "transport": "relay", "steps": "2", "weights": "samples",
		"max_weight": "100"},
	{"sharing": "per-client", "transport": "relay", "distribution": "sphere"},
	{"pool": "16", "rebase": "3"},
}

// A lateRun is a run in virtual time, of which is known when each reply arrived and when each
// record was stored.
type lateRun struct {
	run
	mu      sync.Mutex // guards what follows
	arrived []arrival
	stored  map[uint64]time.Time
}

type arrival struct {
	client int
	n      uint64
	at     time.Time
}

// Record implements [report.Recorder].
func (r *lateRun) Record(e report.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == report.RoundDone {
		r.stored[e.N] = time.Now()
	}
	return nil
}

// takes returns the time that client i works on record n. Client 4 is one round late for every
// third record, client 5 two rounds. The rounds for which these clients are late last 1.2 s.
func takes(i int, n uint64) time.Duration {
	switch {
	case i == 4 && n%3 == 2:
		return 1500 * time.Millisecond
	case i == 5 && n%3 == 0:
		return 2500 * time.Millisecond
	case i > 3:
		return 300 * time.Millisecond
	}
	return time.Duration(900+10*i) * time.Millisecond
}

// slow is the objective of client i, which takes its time once a record.
func (r *lateRun) slow(i int) objective.Objective {
	quick, last := r.objective(i), uint64(0)
	d := quick
	d.Flat = objective.Func(int(r.plan.Dim),
		func(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
			if b.N != last {
				last = b.N
				time.Sleep(takes(i, b.N))
			}
			return quick.Loss(ctx, x, b)
		})
	return d
}

// produceLate runs a plan with late work.
func produceLate(t *testing.T, p *plan.Plan) *lateRun {
	r := &lateRun{stored: map[uint64]time.Time{}}
	r.plan, r.digests = p, make([][32]byte, clients)
	synctest.Test(t, func(t *testing.T) {
		memory, log := bus.NewMemory(), &runlog.Memory{}
		defer memory.Close()
		enroll(t, log)
		lead, err := coordinator.New(t.Context(), coordinator.Config{Bus: memory, Plan: p, Log: log,
			Recorder: r, Linger: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		sub, err := memory.Subscribe(subjects.AllReplies(p.Run), func(m bus.Message) {
			r.mu.Lock()
			defer r.mu.Unlock()
			i := 0
			for id(i) != subjects.ID(m.Subject) {
				i++
			}
			if f, err := wire.DecodeReply(m.Data); err == nil && f.Kind == wire.Contribution {
				r.arrived = append(r.arrived, arrival{i, f.N, time.Now()})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Unsubscribe()
		var all sync.WaitGroup
		all.Go(func() {
			if err := lead.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
		for i := range clients {
			all.Go(func() {
				c, err := client.New(client.Config{Bus: memory, Run: p.Run, ID: id(i),
					Objective: r.slow(i)})
				if err != nil {
					t.Error(err)
					return
				}
				if err := c.Run(t.Context()); err != nil {
					t.Error(err)
				}
				_, r.digests[i] = c.Digest()
			})
		}
		all.Wait()
		r.read(t, log)
	})
	return r
}

// counted returns what record n counts, which arrived before it was stored and after the record
// before it was, and the older records to which that was. A round may close with an arrival.
func (r *lateRun) counted(n uint64, states map[uint64]*State) (
	updates []Update, older map[uint64]bool) {
	older = map[uint64]bool{}
	for _, a := range r.arrived {
		if a.at.After(r.stored[n]) || a.n > n || a.n < n && !a.at.After(r.stored[n-1]) {
			continue
		}
		round := &Round{N: a.n}
		schedule(r.plan, round, a.n-1)
		u := Update{Client: a.client, State: states[a.n], Round: round, Age: int(n - a.n), Weight: 1}
		if r.plan.Weights == plan.BySamples {
			u.Weight = float64(samples(a.client))
		}
		if u.Age > 0 {
			older[a.n] = true
		}
		updates = append(updates, u)
	}
	return updates, older
}

// TestLateAgainstReference runs production devices, some of them too slow for some rounds, and
// compares the model after each record with FedBuff's update of local models.
func TestLateAgainstReference(t *testing.T) {
	for _, settings := range latePlans {
		t.Run(fmt.Sprint(settings), func(t *testing.T) {
			p := latePlan(t, settings)
			r := produceLate(t, p)
			f, _ := fleetOf(p, r.slots)
			at := replica.New(r.replica(1))
			states, ages := map[uint64]*State{}, map[int]int{}
			for _, encoded := range r.records {
				before := widen(at.Params())
				n := at.N() + 1
				if err := at.Apply(encoded); err != nil {
					t.Fatal(err)
				}
				record, err := wire.DecodeRecord(encoded)
				if err != nil || record.Kind != wire.KindRound {
					continue
				}
				states[n] = f.NewState(before)
				updates, older := r.counted(n, states)
				if terms := len(record.Round.Terms); int(record.Round.Contributors) != len(updates) ||
					p.Transport == plan.Mean && terms != 1+len(older) {
					t.Fatalf("record %d has %d contributors and %d terms, want %d, late on %v", n,
						record.Round.Contributors, terms, len(updates), older)
				}
				for _, u := range updates {
					ages[u.Age]++
				}
				r.near(t, n, before, widen(at.Params()), f.Buffered(before, updates))
			}
			if at.Rounds() != lateRounds || ages[1] == 0 || ages[2] == 0 {
				t.Errorf("%d rounds counted %v contributions by age", at.Rounds(), ages)
			}
			for i, digest := range r.digests {
				if digest != at.Digest() {
					t.Errorf("client %d ended with digest %x, the log with %x", i, digest[:4],
						at.Digest())
				}
			}
		})
	}
}

// near compares a model with the reference, relative to the longest way of a parameter.
func (r *lateRun) near(t *testing.T, n uint64, before, got, want []float64) {
	t.Helper()
	way := 0.0
	for i := range want {
		way = max(way, math.Abs(want[i]-before[i]))
	}
	for i := range want {
		if diff := math.Abs(got[i] - want[i]); !(diff <= single*way+ulps*math.Abs(want[i])) {
			t.Fatalf("after record %d parameter %d is %v, the reference has %v; it began at %v, "+
				"the longest way was %v", n, i, got[i], want[i], before[i], way)
		}
	}
}

func latePlan(t *testing.T, settings map[string]string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", "late", 40)
	if err != nil {
		t.Fatal(err)
	}
	p.Rounds, p.Diverge, p.DigestEvery, p.Perturbations = lateRounds, 0, 1, 3
	p.Members, p.Target, p.Quorum, p.OverSample, p.Late = clients, clients, 3, 1, 3
	p.Deadline, p.Reannounce = 1200, 60_000
	size(p)
	for name, value := range settings {
		if err := planfile.Set(p, name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	return p
}
