package run

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
)

// A training is the state of one call of [Train].
type training struct {
	cfg    *Config
	log    runlog.Log
	rows   *os.File // nil without Dir
	curve  *Curve
	watch  *watch
	fleet  *fleet
	base   uint64    // bytes counted by earlier processes
	latest time.Time // when the last round was done
	paused string    // reason, written by the coordinator's goroutine
}

func (t *training) open(ctx context.Context) (err error) {
	t.log = &runlog.Memory{}
	var rows io.Writer
	if dir := t.cfg.Dir; dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if t.log, err = filelog.Open(filepath.Join(dir, "log")); err != nil {
			t.log = nil
			return err
		}
		if t.rows, err = t.curve.keep(filepath.Join(dir, "rounds.csv")); err != nil {
			return err
		}
		rows = t.rows
	}
	members, err := t.log.Members()
	if err == nil && len(members) == 0 {
		err = t.log.AddMembers(ctx, ids(len(t.cfg.Shares)))
	}
	t.watch = newWatch(t.cfg, t.log, t.curve, rows)
	return err
}

func (t *training) close() {
	if t.rows != nil {
		t.rows.Close()
	}
	if t.log != nil {
		t.log.Close()
	}
}

// train replays the log and then runs a fleet, unless the run has ended.
func (t *training) train(ctx context.Context) error {
	if err := t.watch.catchUp(ctx); err != nil || t.ended() {
		return err
	}
	if err := t.anew(ctx); err != nil {
		return err
	}
	if n := len(t.curve.Points); n > 0 {
		t.base = t.curve.Points[n-1].Bytes
	}
	taken, err := taken(ctx, t.log, t.cfg)
	if err != nil {
		return err
	}
	if t.fleet, err = assemble(ctx, t.cfg, t.log, taken,
		report.RecorderFunc(t.record)); err != nil {
		return err
	}
	if err := t.together(ctx); err != nil {
		return err
	}
	if !t.ended() {
		return nil // paused
	}
	return t.fleet.agree(t.watch.replica.N(), t.watch.replica.Digest())
}

// anew begins the run again if clients have state that neither the log contains nor these clients
// save: control variates, or the points of surrogates. If clients lost their control variates,
// the mean over the fleet would still contain corrections that no client makes any more.
func (t *training) anew(ctx context.Context) error {
	p := t.cfg.Plan
	variates := p.Control != plan.NoControl && p.Control != plan.SVRG
	if !variates && p.Estimator != plan.Surrogate || t.watch.replica.N() == 0 {
		return nil
	}
	t.close()
	t.log, t.rows, t.curve.Points = nil, nil, nil
	err := os.RemoveAll(filepath.Join(t.cfg.Dir, "log"))
	if err == nil {
		err = os.Remove(filepath.Join(t.cfg.Dir, "rounds.csv"))
	}
	if err != nil {
		return err
	}
	return t.open(ctx)
}

// together runs the fleet and the watch at the same time.
func (t *training) together(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan error, 1)
	go func() {
		err := t.watch.follow(ctx)
		if err != nil {
			cancel(err)
			for range t.watch.rounds { // lets the fleet stop
			}
		}
		watched <- err
	}()
	t.latest = time.Now()
	err := t.fleet.run(ctx)
	close(t.watch.rounds)
	if fault := <-watched; err == nil || errors.Is(err, errPaused) {
		err = fault
	}
	return err
}

// record follows the coordinator's events, on its goroutine.
func (t *training) record(e report.Event) error {
	switch e.Kind {
	case report.RoundDone:
		now := time.Now()
		t.watch.rounds <- Point{
			Round: e.Round, Bytes: t.base + t.traffic(),
			TrainLoss: float64(e.Loss), Seconds: now.Sub(t.latest).Seconds(),
		}
		t.latest = now
	case report.RunPaused:
		if strings.HasPrefix(e.Reason, diverged) {
			t.fleet.lead.End(e.Reason) // in the log, so that the run does not go on later
			return nil
		}
		t.paused = e.Reason
		return errPaused
	}
	return nil
}

// traffic returns the number of bytes in this process that the curve counts.
func (t *training) traffic() uint64 {
	totals := t.fleet.meter.Totals()
	n := totals.Up.Bytes + totals.Down.Bytes
	if t.cfg.Everything && t.base == 0 {
		n += totals.Other.Bytes
	}
	return n
}

// diverged is the beginning of Curve.Ended for a run that diverged.
const diverged = "diverged: "

// ended reports whether the log contains the end of the run, and saves the reason of the end in
// the curve.
func (t *training) ended() bool {
	end := t.watch.replica.Ended()
	if end == nil {
		if t.paused != "" {
			t.curve.Ended = "paused: " + t.paused
		}
		return false
	}
	t.curve.Ended = end.Reason.String()
	if strings.HasPrefix(end.Text, diverged) {
		t.curve.Ended = end.Text
	} else if end.Text != "" {
		t.curve.Ended += ": " + end.Text
	}
	return true
}

func (t *training) result() *Result {
	r := &Result{Curve: t.curve, Params: t.watch.replica.Params()}
	r.Log, _ = t.log.(*runlog.Memory)
	if t.fleet != nil {
		s := t.fleet.lead.Status()
		r.Totals, r.Cut, r.Suspects = t.fleet.meter.Totals(), s.Counters.Cut, s.Suspects
	}
	return r
}
