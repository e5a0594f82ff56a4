package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// maxBatch is how many arrivals the core takes before its outputs are done:
// devices that join together share one write of the roster.
const maxBatch = 256

// loop feeds the core and does what it says.
func (c *Coordinator) loop(ctx context.Context) error {
	if err := c.perform(c.start()); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	linger := make(<-chan time.Time)
	lingering := false
	for {
		at, ended := c.next()
		timer.Reset(at)
		if ended && !lingering && c.linger > 0 {
			lingering = true
			linger = time.After(c.linger)
		}
		var queue []output
		select {
		case <-ctx.Done():
			return c.stop(ctx, ended)
		case <-linger:
			return c.stop(ctx, ended)
		case <-timer.C:
			queue = c.step(input{kind: inTick})
		case <-c.called:
			queue = c.obey()
		case a := <-c.arrivals:
			queue = c.take(a)
		}
		if err := c.perform(queue); err != nil {
			return err
		}
	}
}

// stop reports what is unreported.
func (c *Coordinator) stop(ctx context.Context, ended bool) error {
	if err := c.perform(c.step(input{kind: inStop})); err != nil || ended {
		return err
	}
	return context.Cause(ctx)
}

func (c *Coordinator) now() uint64 { return uint64(time.Since(c.began).Milliseconds()) }

func (c *Coordinator) start() []output {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]output(nil), c.core.start(c.now())...)
}

func (c *Coordinator) step(in input) []output {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]output(nil), c.core.step(c.now(), in)...)
}

// next returns how long the core has nothing to do by itself, and whether the
// run has ended.
func (c *Coordinator) next() (wait time.Duration, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait = time.Hour
	if at, ok := c.core.wake(); ok {
		wait = time.Until(c.began.Add(time.Duration(at) * time.Millisecond))
	}
	return wait, c.core.ended != nil
}

// obey hands the commands to the core.
func (c *Coordinator) obey() []output {
	c.mu.Lock()
	defer c.mu.Unlock()
	var queue []output
	for _, in := range c.commands {
		queue = append(queue, c.core.step(c.now(), in)...)
	}
	c.commands = nil
	return queue
}

// take hands an arrival to the core, and those that wait behind it.
func (c *Coordinator) take(a arrival) []output {
	c.mu.Lock()
	defer c.mu.Unlock()
	var queue []output
	for range maxBatch {
		in := input{kind: a.kind, id: wire.SubjectID(a.msg.Subject), frame: a.msg.Data, token: a.msg.Reply}
		queue = append(queue, c.core.step(c.now(), in)...)
		select {
		case a = <-c.arrivals:
		default:
			return queue
		}
	}
	return queue
}

// perform does outputs in order, and those that follow from them. After an
// error it goes on, because the core counts on all of them: Run may be called
// again. Only a Recorder that refused an event is told no others.
func (c *Coordinator) perform(queue []output) error {
	var failed error
	var members []string
	recording := true
	for len(queue) > 0 || len(members) > 0 {
		if len(queue) == 0 {
			queue, members = c.addMembers(members), nil
			continue
		}
		o := queue[0]
		queue = queue[1:]
		var err error
		switch o.kind {
		case outMember:
			members = append(members, o.id)
		case outAppend:
			queue = append(queue, c.append(o)...)
		case outAnnounce:
			err = c.announce(o.frame)
		case outRespond:
			err = c.publish(o.token, o.frame)
		case outEvent:
			c.log(o.event)
			if recording {
				err = c.cfg.Recorder.Record(*o.event)
				recording = err == nil
			}
		}
		if failed == nil {
			failed = err
		}
	}
	return failed
}

func (c *Coordinator) append(o output) []output {
	in := input{kind: inAppended, n: o.n}
	if in.err = c.cfg.Log.Append(o.n, o.frame); in.err != nil {
		in.kind = inAppendFailed
	}
	return c.step(in)
}

func (c *Coordinator) addMembers(ids []string) []output {
	in := input{kind: inStored, count: len(ids)}
	if in.err = c.cfg.Log.AddMembers(ids); in.err != nil {
		c.cfg.Logger.Error("members not stored", "err", in.err)
		in.kind = inStoreFailed
	}
	return c.step(in)
}

func (c *Coordinator) announce(frame []byte) error {
	for shard := range c.shards {
		if err := c.publish(wire.AnnounceSubject(c.run, shard), frame); err != nil {
			return err
		}
	}
	return nil
}

// publish sends a frame. What cannot be sent now is said again later; only a
// bus that is closed for good is an error.
func (c *Coordinator) publish(subject string, frame []byte) error {
	err := c.cfg.Bus.Publish(subject, frame)
	if err == nil || errors.Is(err, bus.ErrClosed) {
		return err
	}
	c.cfg.Logger.Warn("not sent", "err", err)
	return nil
}

func (c *Coordinator) log(e *Event) {
	l := c.cfg.Logger
	switch e.Kind {
	case RoundDone:
		l.Debug("round", "record", e.N, "round", e.Round, "attempt", e.Attempt,
			"contributors", e.Contributors, "loss", e.Loss, "seconds", e.Seconds)
	case Evaluated:
		l.Info("evaluated", "record", e.Evaluation.N, "devices", e.Evaluation.Count, "metrics", e.Evaluation.Metrics)
	case RunPaused:
		l.Warn("paused", "record", e.N, "reason", e.Reason)
	case RunResumed:
		l.Info("resumed", "record", e.N)
	case RunEnded:
		l.Info("ended", "record", e.N, "reason", e.End.Reason.String(), "text", e.End.Text)
	case DigestsDiffer:
		l.Error("devices hold different states", "record", e.Digests.N, "digests", len(e.Digests.Values))
	case Joined:
		l.Debug("joined", "id", e.ID, "members", e.Members)
	}
}
