package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// Operators may call these methods from any goroutine. The methods return before the work is done;
// events report the outcome.

// Pause opens no more rounds until Resume, and tells devices the reason. The open round keeps the
// replies that it has collected. The log keeps the pause beside its records, so a coordinator that
// takes over is paused, too. If the log could not keep the pause, [report.Status].Unkept says why.
// Pause has no effect once the run has ended or the caller called End.
func (c *Coordinator) Pause(reason string) { c.PauseAfter(0, reason) }

// PauseAfter pauses the run once a round is done, or now if the round is done already. A later call
// of PauseAfter or Pause replaces an earlier call. The log keeps a planned pause, too.
func (c *Coordinator) PauseAfter(round uint64, reason string) { c.PauseBy("", round, reason) }

// PauseBy is PauseAfter with the name of who asked, which the status shows until the run continues.
func (c *Coordinator) PauseBy(who string, round uint64, reason string) {
	c.command(engine.Input{Kind: engine.InPause, N: round, Text: reason, ID: who})
}

// decide stores the decisions of the operator and of the core in the log.
func (c *Coordinator) decide(ctx context.Context, d runlog.Decisions) []engine.Output {
	in := engine.Input{Kind: engine.InDecided}
	if c.isLost() {
		return c.step(engine.Input{Kind: engine.InDeposed})
	}
	if log, ok := c.cfg.Log.(runlog.Decider); ok {
		limited, cancel := c.limit(ctx)
		defer cancel()
		in.Err = log.Decide(limited, d)
	}
	switch {
	case errors.Is(in.Err, runlog.ErrDeposed):
		in.Kind = engine.InDeposed
	case in.Err != nil:
		c.cfg.Logger.Error("the log does not keep what was decided", "err", in.Err)
	}
	return c.step(in)
}

// Resume continues after a pause, whatever the cause of the pause, with another attempt at the same
// record. If the log did not store a record, Resume hands that record to the log again at once.
func (c *Coordinator) Resume() { c.command(engine.Input{Kind: engine.InResume}) }

// End ends the run for good once pending records are stored; text says why. No pause or rollback,
// before or after the call, undoes End.
func (c *Coordinator) End(text string) { c.command(engine.Input{Kind: engine.InEnd, Text: text}) }

// Rollback returns the run to its state after record to: the parameters, the plan and the number of
// the last round. The log erases nothing: the rollback is a record with the next index. The
// coordinator drops the open round, and counts contributions to that round as late.
//
// Rollback returns before the log has stored the record; the event RolledBack reports the storage.
// Errors match [ErrEnded] or [runlog.ErrDeposed], or say why the run cannot return to that state.
func (c *Coordinator) Rollback(to uint64) error {
	return c.request(&wire.Record{Kind: wire.KindRollback, To: to})
}

// Change gives fields of the plan new values from the next record on. Change waits for the open
// round, or replaces that round if the run is paused.
//
// Change returns before the log has stored the record; the event Changed reports the storage.
// Errors match [ErrEnded] or [runlog.ErrDeposed], or are a [*plan.Error]. Errors match [ErrConfig]
// if the broker cannot carry the rounds of the changed plan.
func (c *Coordinator) Change(change *plan.Change) error {
	copied := *change
	changed := c.Plan()
	change.Apply(&changed)
	if err := checkPayload(&c.cfg, &changed); err != nil {
		return fmt.Errorf("coordinator: change: %w", err)
	}
	return c.request(&wire.Record{Kind: wire.KindChange, Change: &copied})
}

// Retire removes a member for good: no round waits for the member, the coordinator drops the
// member's replies, and the member may not join again. No other device gets the member's slot.
// Revoke the member's credentials too.
//
// Retire returns before the log has stored the removal; the event Retired reports it. The error
// matches [runlog.ErrNoMember] or [runlog.ErrDeposed].
func (c *Coordinator) Retire(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.core.CheckRetire(id); err != nil {
		return fmt.Errorf("coordinator: retire %q: %w", id, err)
	}
	c.enqueue(engine.Input{Kind: engine.InRetire, ID: id})
	return nil
}

// Report gives the run's Recorder a number of this program's own, by name, as an event of kind
// [report.Reported]; devices report theirs with Client.Report. The error matches
// [deviceinfo.ErrValues].
func (c *Coordinator) Report(name string, value float64) error {
	if err := deviceinfo.CheckValue(name, value); err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.commands); n > 0 && c.commands[n-1].Kind == engine.InReport {
		values := c.commands[n-1].Values
		if _, has := values[name]; has || len(values) < deviceinfo.MaxValues {
			values[name] = value
			return nil
		}
	}
	c.enqueue(engine.Input{Kind: engine.InReport, Values: deviceinfo.Values{name: value}})
	return nil
}

func (c *Coordinator) request(r *wire.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.core.Check(r); err != nil {
		return fmt.Errorf("coordinator: %v: %w", r.Kind, err)
	}
	c.enqueue(engine.Input{Kind: engine.InRequest, Record: r})
	return nil
}

func (c *Coordinator) command(in engine.Input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enqueue(in)
}

// enqueue hands a command to Run. The caller of enqueue holds mu.
func (c *Coordinator) enqueue(in engine.Input) {
	c.commands = append(c.commands, in)
	select {
	case c.called <- struct{}{}:
	default:
	}
}

// Status returns what the coordinator is doing now.
func (c *Coordinator) Status() report.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.core.Status()
	if c.signer != nil {
		s.Key = c.signer.Key()
	}
	s.Counters.Malformed += c.garbled.Load()
	s.Counters.Overflow += c.overflow.Load()
	for _, sub := range c.subs {
		s.Counters.Overflow += uint64(sub.Dropped())
	}
	served := c.catchUps.Counts()
	s.Counters.CatchUps, s.Counters.CatchUpBytes = served.Served, served.Bytes
	s.Counters.CatchUpErrors = served.Failed
	addDrops(&s.Counters, served)
	s.CatchUpError = c.catchUps.Failure()
	if c.objects != nil {
		served = c.objects.Counts()
		s.Counters.Objects, s.Counters.ObjectBytes = served.Served, served.Bytes
		s.Counters.ObjectErrors = served.Failed
		addDrops(&s.Counters, served)
		s.ObjectError = c.objects.Failure()
	}
	c.addTurnedAway(&s)
	return s
}

// Plan returns the plan after the last record, with all changes and rollbacks. Do not change the
// plan's slices.
func (c *Coordinator) Plan() plan.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.core.Plan
}

// addDrops adds the requests that a service did not answer.
func addDrops(c *report.Counters, served catchup.Counts) {
	c.Stale += served.Stale
	c.Malformed += served.Garbled
	c.Overflow += served.Overflow
}

// object returns the name of the vector with a digest, if the log still has that vector. Any
// goroutine may call object.
func (c *Coordinator) object(digest [wire.ObjectLen]byte) (runlog.ObjectName, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.core.Vector(digest)
}

// span returns the segment of record n, and the log's last record. Any goroutine may call span.
func (c *Coordinator) span(n uint64) (s catchup.Span, last uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.core.Span(n)
}
