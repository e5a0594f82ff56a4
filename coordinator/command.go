package coordinator

import (
	"github.com/zofl/zofl/coordinator/internal/serve"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// Operators may call these methods from any goroutine. They return before the work is done; events
// tell the outcome.

// Pause opens no more rounds until Resume, and tells devices the reason. The open round keeps what
// it has collected. A pause is not in the log: a restarted coordinator goes on. It has no effect
// once the run has ended or End was called.
func (c *Coordinator) Pause(reason string) { c.command(input{kind: inPause, text: reason}) }

// Resume goes on after a pause, whatever its cause, with another attempt at the same record. A
// record that the log did not take is handed to it again at once.
func (c *Coordinator) Resume() { c.command(input{kind: inResume}) }

// End ends the run for good once pending records are stored; text says why. Neither a pause nor a
// rollback, before or after it, undoes it.
func (c *Coordinator) End(text string) { c.command(input{kind: inEnd, text: text}) }

func (c *Coordinator) command(in input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enqueue(in)
}

// enqueue leaves a command to Run; the caller holds mu.
func (c *Coordinator) enqueue(in input) {
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
	s := c.core.status()
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
	return s
}

// addDrops adds the requests that a service did not answer.
func addDrops(c *report.Counters, served serve.Counts) {
	c.Stale += served.Stale
	c.Malformed += served.Garbled
	c.Overflow += served.Overflow
}

// object returns the name of the vector with a digest, if the log keeps one. Any goroutine may call
// it.
func (c *Coordinator) object(digest [wire.ObjectLen]byte) (runlog.ObjectName, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.core.Vector(digest)
}

// span returns the segment of record n, and the log's last record. Any goroutine may call it.
func (c *Coordinator) span(n uint64) (s serve.Span, last uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last = c.core.N; n <= last {
		s = c.core.segments.Find(n)
	}
	return s, last
}
