package mobile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/bowl"
)

// patience is the time limit of every run of these tests. No test takes that long unless it
// fails.
const patience = 3 * time.Minute

// A lead is a run's coordinator, with its log on disk.
type lead struct {
	t     *testing.T
	run   string
	dim   int
	site  *site
	log   runlog.Log
	leads *coordinator.Coordinator
	round chan uint64 // numbers of finished rounds; dropped if nobody reads

	evaluation atomic.Pointer[report.Evaluation] // the last that a device reported for

	ctx    context.Context
	cancel context.CancelCauseFunc
	all    sync.WaitGroup
}

// testPlan returns a plan for n devices. Each round waits for all n devices, and needs quorum
// devices.
func testPlan(t *testing.T, run string, dim int, n, quorum uint32, rounds uint64) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", run, uint64(dim))
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.Target, p.Quorum, p.Rounds = n, n, quorum, rounds
	p.Deadline, p.Reannounce, p.MaxAttempts, p.DigestEvery = 5000, 500, 1000, 16
	p.StepSize, p.Perturbations = 0.05, 2
	return p
}

var errFinished = errors.New("test is finished")

// lead starts a coordinator, which runs until the test ends.
func (s *site) lead(p *plan.Plan) *lead {
	s.t.Helper()
	l, _ := s.told(p)
	return l
}

// told does the same as lead, and returns the coordinator's events. told drops events if nobody
// reads.
func (s *site) told(p *plan.Plan) (*lead, <-chan report.Event) {
	s.t.Helper()
	l := &lead{t: s.t, run: p.Run, dim: int(p.Dim), site: s, round: make(chan uint64, 1)}
	var err error
	if l.log, err = filelog.Open(filepath.Join(s.t.TempDir(), "log")); err != nil {
		s.t.Fatal(err)
	}
	events := make(chan report.Event, 10_000)
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	c, err := coordinator.New(l.ctx, coordinator.Config{
		Conn: s.connect("coordinator-" + p.Run), Plan: p, Log: l.log, Linger: patience,
		Recorder: report.RecorderFunc(func(e report.Event) error {
			select {
			case events <- e:
			default:
			}
			return l.record(e)
		}),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	l.leads = c
	l.all.Go(func() { l.judge("coordinator", c.Run(l.ctx)) })
	s.t.Cleanup(l.stop)
	return l, events
}

// stop ends the coordinator and the devices of this process. The caller may call stop again.
func (l *lead) stop() {
	l.cancel(errFinished)
	l.all.Wait()
	l.log.Close()
}

func (l *lead) judge(who string, err error) {
	if err != nil && !errors.Is(err, errFinished) {
		l.t.Errorf("%s of %s: %v", who, l.run, err)
	}
}

func (l *lead) record(e report.Event) error {
	if e.Kind == report.RoundDone {
		select {
		case <-l.round:
		default:
		}
		l.round <- e.Round
	}
	if e.Kind == report.Evaluated && e.Evaluation.Count > 0 {
		l.evaluation.Store(&e.Evaluation)
	}
	return nil
}

// toldBy returns the name of the app that a device told last.
func (l *lead) toldBy(device string) string {
	for _, d := range l.leads.Devices() {
		if d.ID == device {
			return d.About.Program
		}
	}
	return ""
}

// after waits until a round is done.
func (l *lead) after(round uint64) {
	l.t.Helper()
	late := time.After(patience)
	for {
		select {
		case r := <-l.round:
			if r >= round {
				return
			}
		case <-late:
			l.t.Fatalf("%s: round %d not done within %v", l.run, round, patience)
		}
	}
}

// companions starts n devices in this process. finished returns their clients when the run
// has ended.
func (l *lead) companions(n int) (finished func() []*client.Client) {
	l.t.Helper()
	clients := make([]*client.Client, n)
	var ended sync.WaitGroup
	for i := range clients {
		id := fmt.Sprintf("go%d", i)
		c, err := client.New(client.Config{
			Conn: l.site.connect(id), Run: l.run, ID: id,
			Objective: objective.Func(l.dim, bowl.Of(i)),
		})
		if err != nil {
			l.t.Fatal(err)
		}
		clients[i] = c
		ended.Add(1)
		l.all.Go(func() {
			defer ended.Done()
			l.judge(id, c.Run(l.ctx))
		})
	}
	l.t.Cleanup(l.stop) // before the devices' connections are closed, which they would report
	return func() []*client.Client {
		ended.Wait()
		return clients
	}
}

// digest returns the index of the log's last record, and the digest of its state.
func (l *lead) digest() (n uint64, digest string) {
	l.t.Helper()
	w := replica.New(replica.Config{Run: l.run})
	err := l.log.Read(l.t.Context(), 1, func(n uint64, record []byte) bool {
		err := w.Apply(record)
		if err != nil {
			l.t.Errorf("log, record %d: %v", n, err)
		}
		return err == nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return w.N(), fmt.Sprintf("%x", w.Digest())
}
