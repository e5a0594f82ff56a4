package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// settling bounds the wait for the last messages after the run has ended.
const settling = 10 * time.Second

var errOver = errors.New("the measurement is over")

// dim is the number of parameters of the model.
const dim = 16

// planOf returns the plan of a measurement.
func planOf(o *options) (*plan.Plan, error) {
	p, err := preset.Unbound("decomfl", "fleet", dim)
	if err != nil {
		return nil, err
	}
	p.Members, p.Target = uint32(o.devices), uint32(o.devices)
	if o.target > 0 {
		p.Target = uint32(o.target)
	}
	p.Quorum = p.Target
	p.Rounds = uint64(o.warmup + o.rounds)
	p.Steps, p.Perturbations = 1, 10
	preset.Fit(p)
	return p, nil
}

// A meter measures from the end of the warm-up to the last round. The goroutine of the
// coordinator's Run calls record.
type meter struct {
	o       *options
	fleet   func() *fleet
	sampler sampler

	last     time.Time
	rounds   []time.Duration
	cpu      time.Duration // until the warm-up ended, then of the measured rounds
	up, down int64
	heap     map[string]int64
	stacks   int64
	shares   map[string]float64
	samples  int64
}

// record times rounds. When the coordinator calls record for a round, it has not announced the next
// round, so that no device works meanwhile.
func (m *meter) record(e report.Event) error {
	if e.Kind != report.RoundDone {
		return nil
	}
	now := time.Now()
	switch {
	case e.Round < uint64(m.o.warmup):
		return nil
	case e.Round == uint64(m.o.warmup):
		return m.begin()
	}
	m.rounds = append(m.rounds, now.Sub(m.last))
	m.last = now
	if len(m.rounds) == m.o.rounds {
		return m.end()
	}
	return nil
}

func (m *meter) begin() (err error) {
	if m.heap, m.stacks, err = heapOf(); err != nil {
		return err
	}
	m.up, m.down = m.fleet().bytes()
	if err := m.sampler.start(); err != nil {
		return err
	}
	m.cpu, m.last = cpuTime(), time.Now()
	return nil
}

func (m *meter) end() (err error) {
	m.cpu = cpuTime() - m.cpu
	up, down := m.fleet().bytes()
	m.up, m.down = up-m.up, down-m.down
	m.shares, m.samples, err = m.sampler.stop()
	return err
}

// measure runs a fleet to the end of its run.
func measure(o *options) (*result, error) {
	p, err := planOf(o)
	if err != nil {
		return nil, err
	}
	n, err := newNetwork(o.broker)
	if err != nil {
		return nil, err
	}
	defer n.close()
	log, err := openLog(o.store)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(errOver)
	var f *fleet
	ready := make(chan struct{})
	m := &meter{o: o, fleet: func() *fleet { <-ready; return f }}
	var c *coordinator.Coordinator
	ended := make(chan error, 1)
	as(coordinatorPart, func() { c, err = lead(ctx, n, p, log, m, ended) })
	if err != nil {
		return nil, err
	}
	as(devicesPart, func() { f, err = startFleet(ctx, o, n, p.Run) })
	if err != nil {
		return nil, err
	}
	close(ready)
	return f.finish(ctx, m, c, log, stop, ended)
}

// openLog opens a file log in a directory, or a log in memory if dir is empty.
func openLog(dir string) (runlog.Log, error) {
	if dir == "" {
		return &runlog.Memory{}, nil
	}
	return filelog.Open(dir)
}

// lead starts the coordinator, which announces the end until ctx ends.
func lead(ctx context.Context, n network, p *plan.Plan, log runlog.Log, m *meter,
	ended chan<- error) (*coordinator.Coordinator, error) {
	b, _, err := n.connect("coordinator")
	if err != nil {
		return nil, err
	}
	c, err := coordinator.New(ctx, coordinator.Config{
		Bus: b, Plan: p, Log: log, Linger: -1, Queue: 16384 + 2*m.o.devices,
		Recorder: report.RecorderFunc(m.record),
	})
	if err != nil {
		return nil, err
	}
	go func() { ended <- c.Run(ctx) }()
	return c, nil
}

// finish waits for the end of the run on all devices. Then finish stops the coordinator, once the
// coordinator has read the devices' last messages.
func (f *fleet) finish(ctx context.Context, m *meter, c *coordinator.Coordinator,
	log runlog.Log, stop context.CancelCauseFunc, ended <-chan error) (*result, error) {
	all := make(chan struct{})
	var once sync.WaitGroup
	once.Go(func() { f.running.Wait(); close(all) })
	select {
	case <-all:
	case err := <-ended:
		stop(errOver)
		<-all
		return nil, fmt.Errorf("the coordinator stopped early: %w", err)
	}
	if errs := f.errs.all(); len(errs) > 0 {
		return nil, errs[0]
	}
	sent := f.tally.sum()
	for end := time.Now().Add(settling); c.Status().Counters.Messages() < sent &&
		time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	stop(errOver)
	if err := <-ended; err != nil && !errors.Is(err, errOver) {
		return nil, err
	}
	differing, err := f.differing(ctx, log)
	if err != nil {
		return nil, err
	}
	r := newResult(m, f, c.Status().Counters)
	r.Differing = differing
	return r, nil
}

// differing counts the devices that did not end with the state of the log.
func (f *fleet) differing(ctx context.Context, log runlog.Log) (n int, err error) {
	w := replica.New(replica.Config{Run: "fleet"})
	var failed error
	err = log.Read(context.WithoutCancel(ctx), 1, func(_ uint64, record []byte) bool {
		failed = w.Apply(record)
		return failed == nil
	})
	if err := errors.Join(err, failed); err != nil {
		return 0, fmt.Errorf("log: %w", err)
	}
	want := w.Digest()
	for _, c := range f.clients {
		if at, digest := c.Digest(); at != w.N() || digest != want {
			n++
		}
	}
	return n, nil
}

// quantile returns the duration that a fraction q of the rounds did not exceed.
func quantile(rounds []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(rounds))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
