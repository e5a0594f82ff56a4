package coordinator

import (
	"context"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
)

// maxBatch is how many arrivals the core takes before the loop performs the core's outputs. So
// devices that join together share one write of the roster.
const maxBatch = 256

// stopGrace is how long a pending append may continue after ctx ended. So a Run that stops can
// still report a record that is almost stored, and the next Run need not find that record in the
// log.
const stopGrace = time.Second

// loop feeds the core and performs its outputs.
func (c *Coordinator) loop(ctx context.Context) error {
	if c.isLost() {
		return c.depose(ctx)
	}
	if err := c.perform(ctx, c.start()); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	linger := make(<-chan time.Time)
	lingering, patience := false, time.Time{}
	for {
		at, ended := c.next()
		timer.Reset(at)
		if ended && !lingering && c.linger > 0 {
			lingering = true
			linger = time.After(c.linger)
			patience = time.Now().Add(c.linger + c.deadline())
		}
		var queue []engine.Output
		select {
		case <-c.lost:
			return c.depose(ctx)
		case <-ctx.Done():
			return c.stop(ctx, ended)
		case <-linger:
			more := c.lingerMore(patience)
			if more <= 0 {
				return c.stop(ctx, ended)
			}
			linger = time.After(more)
		case <-timer.C:
			queue = c.step(engine.Input{Kind: engine.InTick})
		case <-c.called:
			queue = c.obey()
		case <-c.arrivals.Ready():
			queue = c.take()
		}
		if err := c.perform(ctx, queue); err != nil {
			return err
		}
	}
}

// lingerMore returns how much longer Run waits for devices that fetch the vector of the last round,
// because no announcement carries that vector. Run waits while devices keep sending requests, until
// patience ends.
func (c *Coordinator) lingerMore(patience time.Time) time.Duration {
	pause := c.linger / 2
	if c.objects == nil || time.Since(c.objects.Last()) >= pause {
		return 0
	}
	return min(pause, time.Until(patience))
}

// deadline is the plan's Deadline, the time that devices have for a round.
func (c *Coordinator) deadline() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.core.Plan.Deadline) * time.Millisecond
}

// stop performs earlier commands, and reports events that Run has not reported yet.
func (c *Coordinator) stop(ctx context.Context, ended bool) error {
	queue := append(c.obey(), c.step(engine.Input{Kind: engine.InStop})...)
	if err := c.perform(ctx, queue); err != nil || ended {
		return err
	}
	return context.Cause(ctx)
}

// depose stops the core for good.
func (c *Coordinator) depose(ctx context.Context) error {
	if err := c.perform(ctx, c.step(engine.Input{Kind: engine.InDeposed})); err != nil {
		return err
	}
	return runlog.ErrDeposed
}

// isLost says whether another coordinator may lead.
func (c *Coordinator) isLost() bool {
	select {
	case <-c.lost:
		return true
	default:
		return false
	}
}

func (c *Coordinator) now() uint64 { return uint64(time.Since(c.began).Milliseconds()) }

func (c *Coordinator) start() []engine.Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]engine.Output(nil), c.core.Start(c.now())...)
}

func (c *Coordinator) step(in engine.Input) []engine.Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]engine.Output(nil), c.core.Step(c.now(), in)...)
}

// next returns how long the core has nothing to do, and whether the run has ended.
func (c *Coordinator) next() (wait time.Duration, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait = time.Hour
	if at, ok := c.core.Wake(); ok {
		wait = time.Until(c.began.Add(time.Duration(at) * time.Millisecond))
	}
	return wait, c.core.End != nil
}

// obey hands the commands to the core.
func (c *Coordinator) obey() []engine.Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	var queue []engine.Output
	for _, in := range c.commands {
		queue = append(queue, c.core.Step(c.now(), in)...)
	}
	c.commands = nil
	return queue
}

// token returns the subject to which the coordinator answers a device's message. token returns ""
// if the message gets no answer, because the subject in the message does not belong to the sender.
func token(m bus.Message) string {
	if subjects.AnswersTo(subjects.ID(m.Subject), m.Reply) {
		return m.Reply
	}
	return ""
}

// token is [token] with what the signer needs to know about the message.
func (c *Coordinator) token(m *bus.Message) string {
	to := token(*m)
	if c.signer != nil {
		to = c.signer.Token(m.Subject, to, m.Data)
	}
	return to
}

// take hands arrivals to the core, at most maxBatch of them.
func (c *Coordinator) take() (queue []engine.Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range maxBatch {
		a, ok := c.arrivals.Pop()
		if !ok {
			return queue
		}
		queue = append(queue, c.handle(&a)...)
	}
	c.arrivals.Wake()
	return queue
}
