package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/examples/browser/digits"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// A lead has a broker for browsers and other programs, a coordinator, and neighbors: devices that
// train with the first tab.
type lead struct {
	run         string
	out         io.Writer
	broker      *broker.Broker
	log         runlog.Log
	coordinator *coordinator.Coordinator
	neighbors   []*client.Client
	conns       []*nats.Conn
	members     uint32 // of the plan
	growing     sync.Mutex
	wanted      atomic.Uint32 // members, once grow is done
	tmp         string        // directory of a log that is forgotten
	cancel      context.CancelCauseFunc
	ctx         context.Context // of all that start began
	done        sync.WaitGroup
}

// begin begins a run, or continues the run in the log.
func begin(ctx context.Context, o Options, origin string, out io.Writer) (*lead, error) {
	l := &lead{out: out}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	if err := l.begin(o, origin); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lead) begin(o Options, origin string) (err error) {
	if err := l.openLog(o.Store); err != nil {
		return err
	}
	if l.broker, err = broker.Run(broker.Config{WebSocket: "127.0.0.1:0",
		Origins: []string{origin}}); err != nil {
		return err
	}
	if err := l.coordinate(o); err != nil {
		return err
	}
	for i := range o.Neighbors {
		if err := l.neighbor(fmt.Sprintf("neighbor-%d", i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (l *lead) openLog(dir string) error {
	if dir == "" {
		var err error
		if l.tmp, err = os.MkdirTemp("", "zofl-browser-"); err != nil {
			return err
		}
		dir = l.tmp
	}
	log, err := filelog.Open(dir)
	if err != nil {
		return err
	}
	l.log = log
	return nil
}

// planOf returns the plan of a new run. The run starts when one tab has joined in addition to the
// neighbors, and more tabs can join at any time. The run has a new name, because devices
// recognize an earlier run by its name.
func planOf(o Options) (*plan.Plan, error) {
	p, err := preset.New("zofl", "digits-"+rand.Text()[:6], digits.Dim)
	if err != nil {
		return nil, err
	}
	n := uint32(o.Neighbors + 1)
	p.Members, p.Target, p.Quorum, p.Rounds = n, n, max(n/2, 1), o.Rounds
	p.Deadline = 5000 // ms: who closes a tab is waited for three times
	p.Metrics, p.EvalEvery, p.EvalCount = []string{"loss", "accuracy"}, 100, 1
	return p, plancheck.Validate(p)
}

func (l *lead) coordinate(o Options) error {
	nc, err := l.connect("coordinator", nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	cfg := coordinator.Config{Conn: nc, Log: l.log, Linger: -1,
		Recorder: report.RecorderFunc(l.record)}
	if l.log.Last() == 0 {
		if cfg.Plan, err = planOf(o); err != nil {
			return err
		}
	}
	c, err := coordinator.New(l.ctx, cfg)
	if err != nil {
		return err
	}
	status := c.Status()
	l.coordinator, l.run, l.members = c, status.Run, max(uint32(o.Neighbors)+1, status.Members)
	l.start(c.Run)
	return nil
}

// neighbor starts a device in this program. The neighbor runs the same code as a tab, without the
// WebSocket.
func (l *lead) neighbor(id string) error {
	nc, err := l.connect(id, client.ConnectOptions(id)...)
	if err != nil {
		return err
	}
	c, err := client.New(client.Config{Conn: nc, Run: l.run, ID: id, Objective: digits.New(id)})
	if err != nil {
		return err
	}
	l.neighbors = append(l.neighbors, c)
	l.start(c.Run)
	return nil
}

func (l *lead) connect(name string, opts ...nats.Option) (*nats.Conn, error) {
	nc, _, err := l.broker.Connect(name, opts...)
	if err == nil {
		l.conns = append(l.conns, nc)
	}
	return nc, err
}

// start calls do on a goroutine, until the lead is closed. If do fails, start ends the whole
// lead.
func (l *lead) start(do func(context.Context) error) {
	l.done.Go(func() {
		if err := do(l.ctx); err != nil {
			l.cancel(err)
		}
	})
}

// errClosed is the reason for the end of a lead that ended without an error.
var errClosed = errors.New("closed")

// wait waits until the lead ends, and returns the reason.
func (l *lead) wait() error {
	l.done.Wait()
	return context.Cause(l.ctx)
}

func (l *lead) close() {
	l.cancel(errClosed)
	l.done.Wait()
	for _, nc := range l.conns {
		nc.Close()
	}
	if l.broker != nil {
		l.broker.Shutdown()
	}
	if l.log != nil {
		_ = l.log.Close()
	}
	if l.tmp != "" {
		_ = os.RemoveAll(l.tmp)
	}
}

// grow raises the plan's number of members to the number of devices that have joined, so that
// each round can ask all of them. grow runs on a goroutine of its own, because the coordinator's
// recorder must not call the coordinator.
func (l *lead) grow() {
	l.growing.Lock() // in order: the last change has all
	defer l.growing.Unlock()
	devices := l.wanted.Load()
	change := &plan.Change{}
	for _, field := range []string{"members", "target"} {
		if err := planfile.SetChange(change, field, fmt.Sprint(devices)); err != nil {
			l.cancel(err)
			return
		}
	}
	if err := l.coordinator.Change(change); err != nil && !errors.Is(err, coordinator.ErrEnded) {
		fmt.Fprintf(l.out, "%d devices have joined, and rounds ask for fewer: %v\n", devices, err)
	}
}

// record prints the coordinator's events.
func (l *lead) record(e report.Event) error {
	const often = 50
	if e.Kind == report.Joined && e.Members > l.members {
		l.members = e.Members
		l.wanted.Store(e.Members)
		go l.grow()
	}
	switch {
	case e.Kind == report.RoundDone && e.Round%often == 0:
		fmt.Fprintf(l.out, "round %d: %d devices, mean loss %.3f\n", e.Round, e.Contributors, e.Loss)
	case e.Kind == report.Evaluated && len(e.Evaluation.Metrics) == 2:
		fmt.Fprintf(l.out, "after record %d: %.0f %% of digits right\n", e.Evaluation.N,
			100*e.Evaluation.Metrics[1])
	case e.Kind == report.Joined, e.Kind == report.Left, e.Kind == report.Lost,
		e.Kind == report.Returned:
		fmt.Fprintf(l.out, "%s: %s\n", e.ID, e.Kind)
	case e.Kind == report.RunPaused, e.Kind == report.RunResumed:
		fmt.Fprintf(l.out, "%s %s\n", e.Kind, e.Reason)
	case e.Kind == report.RunEnded:
		fmt.Fprintln(l.out, "the run has ended; tabs keep the model. Ctrl-C ends this program")
	}
	return nil
}
