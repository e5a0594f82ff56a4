package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// perform performs outputs in order, and then the outputs that follow from them. After an error,
// perform continues, because the core relies on every output and Run may be called again. perform
// makes two exceptions: a Recorder that refused an event gets no more events, and a deposed core
// needs no more outputs.
func (c *Coordinator) perform(ctx context.Context, queue []engine.Output) error {
	var failed error
	var members []string
	recording := true
	for len(queue) > 0 || len(members) > 0 {
		if len(queue) == 0 {
			queue, members = c.addMembers(ctx, members), nil
			continue
		}
		o := queue[0]
		queue = queue[1:]
		var err error
		switch o.Kind {
		case engine.OutMember:
			members = append(members, o.ID)
		case engine.OutRetire:
			queue = append(queue, c.retireMember(ctx, o.ID)...)
		case engine.OutDecide:
			queue = append(queue, c.decide(ctx, *o.Decisions)...)
		case engine.OutHandOver:
			queue = c.handOver(ctx, o.Frame, queue)
		case engine.OutAppend:
			queue = append(queue, c.append(ctx, o)...)
		case engine.OutKeep:
			c.keep(ctx, o)
		case engine.OutAnnounce:
			err = c.announce(o.Frame)
		case engine.OutRespond:
			err = c.respond(o.Token, o.Frame)
		case engine.OutFail:
			if err = o.Err; errors.Is(err, runlog.ErrDeposed) {
				return err
			}
		case engine.OutEvent:
			if o.Event.Kind == report.Joined {
				c.register.Add(o.Event.ID)
			}
			c.log(o.Event)
			if recording {
				err = c.cfg.Recorder.Record(*o.Event)
				recording = err == nil
			}
		}
		if failed == nil {
			failed = err
		}
	}
	return failed
}

// append hands a record to the log. If Run must stop before the outcome is known, the core learns
// nothing. So it neither pauses nor fails, and hands out the same bytes when Run is called again.
func (c *Coordinator) append(ctx context.Context, o engine.Output) []engine.Output {
	if c.isLost() {
		return c.step(engine.Input{Kind: engine.InDeposed})
	}
	in := engine.Input{Kind: engine.InAppended, N: o.N}
	in.Err = c.store(ctx, o)
	var conflict *runlog.ConflictError
	if errors.As(in.Err, &conflict) && conflict.N == o.N {
		in.Kind, in.Frame = engine.InConflict, conflict.Record
		in.Handover, in.Err = c.handedOver(ctx)
	}
	if in.Err != nil {
		return c.unstored(ctx, in)
	}
	return c.step(in)
}

// unstored tells the core that the log did not store a record, and why.
func (c *Coordinator) unstored(ctx context.Context, in engine.Input) []engine.Output {
	switch {
	case errors.Is(in.Err, runlog.ErrDeposed):
		in.Kind = engine.InDeposed
	case ctx.Err() != nil || c.isLost():
		return nil
	default:
		in.Kind = engine.InAppendFailed
	}
	return c.step(in)
}

// handedOver returns what another coordinator stored with the log's last record.
func (c *Coordinator) handedOver(ctx context.Context) ([]byte, error) {
	limited, cancel := c.limit(ctx)
	defer cancel()
	return runlog.HandoverOf(limited, c.cfg.Log)
}

// handOver gives the log what it is to store with the record that queue begins with. If the log
// cannot store that, the record is not appended either.
func (c *Coordinator) handOver(ctx context.Context, state []byte,
	queue []engine.Output) []engine.Output {
	log, ok := c.cfg.Log.(runlog.Handovers)
	if !ok || c.isLost() {
		return queue
	}
	limited, cancel := c.limit(ctx)
	defer cancel()
	n, tip := queue[0].N, wire.HashRecord(queue[0].Frame).Tip()
	err := log.HandOver(limited, n, tip, state)
	if err == nil {
		return queue
	}
	return append(queue[1:], c.unstored(ctx, engine.Input{N: n, Err: err})...)
}

// store stores a record, after the vector that the record names.
func (c *Coordinator) store(ctx context.Context, o engine.Output) error {
	if o.Object != nil {
		limited, cancel := c.limitOf(ctx, len(o.Object.Data))
		defer cancel()
		err := c.vectors.PutObject(limited, o.Object.Name, o.Object.Data)
		switch {
		// the stored vector is damaged, but not the log: store the vector again
		case errors.Is(err, runlog.ErrCorrupt):
			return fmt.Errorf("vector: %v", err)
		case err != nil:
			return fmt.Errorf("vector: %w", err)
		}
	}
	limited, cancel := c.limit(ctx)
	defer cancel()
	return c.cfg.Log.Append(limited, o.N, o.Frame)
}

// keep deletes vectors. Vectors that it fails to delete are deleted after the next record, or by
// the next coordinator.
func (c *Coordinator) keep(ctx context.Context, o engine.Output) {
	if c.isLost() {
		return
	}
	limited, cancel := c.limit(ctx)
	defer cancel()
	c.objects.Keep(len(o.Names))
	if err := c.vectors.KeepObjects(limited, o.N, o.Names); err != nil {
		c.cfg.Logger.Warn("old vectors not deleted", "record", o.N, "err", err)
	}
}

func (c *Coordinator) addMembers(ctx context.Context, ids []string) []engine.Output {
	if c.isLost() {
		return c.step(engine.Input{Kind: engine.InDeposed})
	}
	limited, cancel := c.limit(ctx)
	defer cancel()
	in := engine.Input{Kind: engine.InStored, Count: len(ids)}
	if in.Err = c.cfg.Log.AddMembers(limited, ids); in.Err != nil {
		c.cfg.Logger.Error("members not stored", "err", in.Err)
		in.Kind = engine.InStoreFailed
	}
	if errors.Is(in.Err, runlog.ErrDeposed) {
		in.Kind = engine.InDeposed
	}
	return c.step(in)
}

// retireMember stores a retirement.
func (c *Coordinator) retireMember(ctx context.Context, id string) []engine.Output {
	if c.isLost() {
		return c.step(engine.Input{Kind: engine.InDeposed})
	}
	limited, cancel := c.limit(ctx)
	defer cancel()
	in := engine.Input{Kind: engine.InRetired, ID: id, Err: c.cfg.Log.Retire(limited, id)}
	if errors.Is(in.Err, runlog.ErrDeposed) {
		in.Kind = engine.InDeposed
	}
	return c.step(in)
}

// limit returns the context of a call to the log. The context ends after Config.AppendTimeout, when
// the log is lost, or stopGrace after ctx.
func (c *Coordinator) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.limitOf(ctx, 0)
}

// limitOf is limit with one more second for each MiB of a vector.
func (c *Coordinator) limitOf(ctx context.Context, size int) (context.Context, context.CancelFunc) {
	timeout := c.cfg.AppendTimeout + time.Duration(size)*time.Second>>20
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	returned := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-returned:
		case <-c.lost:
		case <-ctx.Done():
			select {
			case <-returned:
			case <-c.lost:
			case <-time.After(stopGrace):
			}
		}
		cancel()
	})
	return limited, func() { close(returned); watching.Wait() }
}

func (c *Coordinator) announce(frame []byte) error {
	sent := frame
	if c.signer != nil {
		sent = c.signer.Announcement(frame)
	}
	for shard := range c.shards {
		if err := c.send(subjects.Announce(c.run, shard), sent); err != nil {
			return c.announceBare(frame, err)
		}
	}
	return nil
}

// respond sends the answer to a message to where [Coordinator.token] said.
func (c *Coordinator) respond(token string, frame []byte) error {
	if c.signer != nil {
		token, frame = c.signer.Redeem(token, frame)
	}
	if err := c.send(token, frame); err != nil {
		return c.unsent(frame, err)
	}
	return nil
}

// send sends a frame, unless another coordinator leads.
func (c *Coordinator) send(subject string, frame []byte) error {
	if c.isLost() {
		return nil
	}
	return c.cfg.Bus.Publish(subject, frame)
}

// unsent says why a frame was not sent. Only a closed bus is an error, because the core sends the
// frame again later.
func (c *Coordinator) unsent(frame []byte, err error) error {
	if errors.Is(err, bus.ErrClosed) {
		return err
	}
	c.cfg.Logger.Warn("not sent", "err", err, "bytes", len(frame))
	return nil
}

func (c *Coordinator) log(e *report.Event) {
	l := c.cfg.Logger
	switch e.Kind {
	case report.RoundDone, report.PhaseDone:
		l.Debug(e.Kind.String(), "record", e.N, "round", e.Round, "attempt", e.Attempt,
			"contributors", e.Contributors, "loss", e.Loss, "seconds", e.Seconds)
	case report.Evaluated:
		l.Debug("evaluated", "record", e.Evaluation.N, "devices", e.Evaluation.Count, "metrics",
			e.Evaluation.Metrics)
	case report.Improved:
		l.Debug("best", "record", e.Best.N, e.Best.Metric, e.Best.Value)
	case report.RunPaused:
		l.Warn("paused", "record", e.N, "reason", e.Reason)
	case report.StillPaused:
		l.Warn("still paused", "record", e.N, "for", (time.Duration(e.Seconds) * time.Second).String(),
			"reason", e.Reason)
	case report.RunResumed:
		l.Info("resumed", "record", e.N)
	case report.RunEnded:
		why := []any{"record", e.N, "reason", e.End.Reason.String()}
		if e.End.Text != "" {
			why = append(why, "text", e.End.Text)
		}
		l.Info("ended", why...)
	case report.DigestsDiffer:
		l.Error("devices hold different states", "record", e.Digests.N, "digests",
			len(e.Digests.Values),
			"reference", e.Digests.Source, "differ", e.Digests.Differ)
	case report.Referred:
		l.Debug("reference", "record", e.Digests.N, "digest", e.Digests.Reference.String(),
			"source", e.Digests.Source, "differing", e.Digests.Differing)
	case report.Adopted:
		l.Warn("adopted another coordinator's record", "record", e.N, "kind", e.Record.String(),
			"epoch", e.Epoch)
	case report.RolledBack:
		l.Warn("rolled back", "record", e.N, "to", e.To)
	case report.Surveyed:
		about := []any{"record", e.N, "of", e.Survey.Kind, "devices", e.Survey.Answers}
		if k := survey.Named(e.Survey.Kind); k == survey.Mu || k == survey.Step {
			about = append(about, "chosen", plain(e.Survey.Value))
		}
		if r := e.Survey.SignalToNoise; r > 0 {
			about = append(about, "signal_to_noise", survey.Rounded(r, 3),
				"losses_factor", survey.Rounded(e.Survey.LossesFactor, 3))
		}
		l.Info("survey", append(about, "why", e.Survey.Why)...)
		if e.Survey.Warning != "" {
			l.Warn("survey", "record", e.N, "of", e.Survey.Kind, "warning", e.Survey.Warning)
		}
	case report.Changed:
		l.Info("changed", "record", e.N, "fields", e.Fields)
	case report.Refused:
		l.Warn("refused", "kind", e.Record.String(), "reason", e.Reason)
	case report.Joined:
		l.Debug("joined", "id", e.ID, "members", e.Members)
	case report.Left, report.Lost, report.Returned, report.Retired:
		l.Info(e.Kind.String(), "id", e.ID, "present", e.Members)
	case report.SteppedOut:
		l.Debug("stepped out", "id", e.ID, "reason", e.Reason, "seconds", e.Seconds)
	case report.JoinRefused:
		l.Warn("join refused", "id", e.ID, "reason", e.Reason)
	case report.Unused:
		l.Warn("a device's work comes too late to count", "id", e.ID, "record", e.N,
			"reason", e.Reason)
	case report.Suspected:
		l.Warn("a device's contributions stand out", "id", e.ID, "record", e.N,
			"reason", e.Reason)
	case report.SameID:
		l.Warn("two devices send under one id, and one's answers are lost: stop one of them, give it "+
			"an id and a state directory of its own", "id", e.ID, "record", e.N)
	}
}

// plain returns v as a float64 with v's shortest decimal digits. A log message would otherwise
// print 0.009999999776482582 for the float32 0.01.
func plain(v float32) float64 {
	p, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	return p
}
