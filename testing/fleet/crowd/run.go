package crowd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/preset"
)

// A Config gives the size of a crowd, and the work of the crowd.
type Config struct {
	Devices int
	Target  int // contributions of a round
	Rounds  uint64
	Answer  float64  // probability that an asked device answers
	Dir     string   // of the coordinator's log
	Marks   []uint64 // rounds after which the heap is measured
}

// A Result is the outcome of a crowd's run. Durations are wall time.
type Result struct {
	Devices int
	Rounds  uint64
	Joining time.Duration // until all had joined

	// Select is how long the crowd takes to compute which devices are asked. In a real fleet the
	// devices share this work. Round is the time from a round's first reply to its record in the log.
	SelectP50, RoundP50, RoundP99 time.Duration

	Asked, Sent uint64 // devices asked, replies sent
	Lost        int64  // replies sent that no counter of the coordinator counts
	Counters    report.Counters

	Before uint64 // bytes of live heap (the ids) before the coordinator was made
	Heap   []Heap // all live heap after marked rounds
}

// A Heap is the bytes of live heap after a round.
type Heap struct{ Round, Bytes uint64 }

// plan returns the plan of a crowd's run. Round 1 waits until all devices have joined.
func (c *Config) plan() (*plan.Plan, error) {
	p, err := preset.Unbound("decomfl", "crowd", 16)
	if err != nil {
		return nil, err
	}
	p.RunKey, p.Steps, p.Perturbations = make(plan.Bytes, 32), 1, 10
	p.StepSize, p.Diverge, p.Batch = 1e-6, 0, 0
	p.Roster, p.Members, p.Target = plan.OpenRoster, uint32(c.Devices), uint32(c.Target)
	p.Quorum, p.OverSample = uint32(c.Target/2), float32(1.3/c.Answer)
	p.Deadline, p.Reannounce = 10_000, 10_000
	p.EvalEvery, p.DigestEvery, p.Metrics = 0, 0, nil
	p.Rounds = c.Rounds
	return p, plancheck.Validate(p)
}

// Run lets a crowd join and answer rounds. Run measures the heap of the whole process, so no other
// work should run in the process.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	plan, err := cfg.plan()
	if err != nil {
		return nil, fmt.Errorf("crowd: %w", err)
	}
	m := &meter{marks: cfg.Marks, answering: make(chan time.Time, 1), ended: make(chan struct{})}
	r := &Result{Devices: cfg.Devices, Rounds: cfg.Rounds}
	ids := newIDs(cfg.Devices)
	r.Before = liveHeap()
	log, err := filelog.Open(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("crowd: %w", err)
	}
	defer log.Close()
	b := bus.NewMemory()
	defer b.Close()
	c, err := coordinator.New(ctx, coordinator.Config{Bus: b, Plan: plan, Log: log, Recorder: m,
		Linger: -1})
	if err != nil {
		return nil, fmt.Errorf("crowd: %w", err)
	}
	all := &crowd{Members: Members{Bus: b, Plan: plan, Rand: rand.New(rand.NewPCG(1, 2))},
		answer: cfg.Answer, ids: ids, answering: m.answering}
	if err := all.conduct(ctx, c, m, r); err != nil {
		return nil, fmt.Errorf("crowd: %w", err)
	}
	r.Heap, r.Counters = m.heaps, c.Status().Counters
	r.Asked, r.Sent = all.asked.Load(), all.sent.Load()
	r.Lost = int64(r.Sent) - int64(counted(&r.Counters))
	r.SelectP50 = quantile(all.selecting, 0.5)
	r.RoundP50, r.RoundP99 = quantile(m.rounds, 0.5), quantile(m.rounds, 0.99)
	return r, nil
}

// errOver ends the coordinator's context once the coordinator has counted all replies.
var errOver = errors.New("crowd: over")

// conduct runs the coordinator until the run has ended and the coordinator has counted all replies
// sent.
func (c *crowd) conduct(
	ctx context.Context, lead *coordinator.Coordinator, m *meter, r *Result,
) error {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := make(chan error, 1)
	go func() { done <- lead.Run(running) }()
	began := time.Now()
	sub, err := c.Bus.Subscribe(subjects.Announce(c.Plan.Run, 0), c.hear)
	if err == nil {
		defer sub.Unsubscribe()
		err = c.Join(ctx, c.ids, func(string, uint32) {})
		r.Joining = time.Since(began)
	}
	if err == nil {
		select {
		case <-m.ended:
		case err = <-done:
			return err
		case <-ctx.Done():
		}
		c.await(ctx, lead)
	}
	stop(errOver)
	if ended := <-done; ended != nil && !errors.Is(ended, errOver) {
		err = errors.Join(err, ended)
	}
	return err
}

// await waits until the coordinator has counted all sent replies; a lost reply ends the wait.
func (c *crowd) await(ctx context.Context, lead *coordinator.Coordinator) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for still, before := 0, uint64(0); still < 500 && ctx.Err() == nil; still++ {
		counters := lead.Status().Counters
		now := counted(&counters)
		if now == c.sent.Load() {
			return
		}
		if now != before {
			still, before = 0, now
		}
		<-tick.C
	}
}

// counted is the number of replies in a coordinator's counters.
func counted(c *report.Counters) uint64 { return c.Contributions + c.Declines + c.Dropped() }

func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(d))[int(q*float64(len(d)-1))]
}
