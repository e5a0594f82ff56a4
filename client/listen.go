package client

import (
	"context"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/retry"
)

// A device that receives a flood of announcements asks the coordinator how far the run is. The
// device asks ten times between two repetitions of an announcement. At this rate the device can
// take part in rounds, and the coordinator still answers all questions of one member.
const (
	asksPerRepeat = 10
	shortestAsk   = 250 * time.Millisecond
)

// deafAt is how many announcements the device drops between two questions before it unsubscribes.
// Each announcement costs time and traffic, even if the device does not read it.
const deafAt = 1000

// These values bound how long the device stays unsubscribed: each time twice as long as the time
// before.
const (
	shortestRest = 5 * time.Second
	longestRest  = time.Minute
)

// A listener subscribes to the announcements of a subject, and unsubscribes while there are too
// many. The goroutine of Run owns a listener.
type listener struct {
	*Client
	subject string
	sub     bus.Subscription // nil while unsubscribed
	next    chan struct{}    // has a token when it is time to ask again; nil: no need
	skipped uint64           // how many announcements the device had dropped at the last question
	until   time.Time        // when to subscribe again
	rest    time.Duration    // how long to stay unsubscribed next time
}

func (c *Client) newListener(subject string) *listener {
	return &listener{Client: c, subject: subject, rest: shortestRest}
}

// open subscribes.
func (l *listener) open(ctx context.Context) (err error) {
	if l.sub, err = l.link.Subscribe(ctx, l.subject, l.inbox.receive); err != nil {
		l.sub = nil
		return fmt.Errorf("announcements: %w", err)
	}
	return nil
}

func (l *listener) close() {
	if l.sub != nil {
		l.sub.Unsubscribe()
	}
	l.sub = nil
}

// due has a token when it is time to [listener.ask].
func (l *listener) due() <-chan struct{} {
	if l.next == nil {
		return l.inbox.flooded
	}
	return l.next
}

// ask asks how far the run is, if the device dropped announcements since the last question or is
// unsubscribed.
func (l *listener) ask(ctx context.Context) (next, error) {
	_, now := l.inbox.refusals()
	dropped := now - l.skipped
	l.skipped = now
	switch {
	case l.sub == nil:
		if err := l.reopen(ctx); err != nil {
			return next{}, err
		}
	case dropped == 0:
		l.next, l.rest = nil, shortestRest
		return goOn((*Client).listen)
	case dropped >= deafAt:
		l.cfg.Logger.Warn("flooded with announcements that bring nothing", "dropped", dropped,
			"pause", l.rest)
		l.close()
		l.until = time.Now().Add(l.rest)
		l.rest = min(2*l.rest, longestRest)
	}
	l.wait()
	return goOn((*Client).look)
}

// reopen subscribes again once the pause is over. Being offline is no error.
func (l *listener) reopen(ctx context.Context) error {
	if time.Now().Before(l.until) {
		return nil
	}
	if err := l.open(ctx); retry.Final(err) {
		return err
	}
	return nil
}

// wait sets the time of the next question.
func (l *listener) wait() {
	often := max(l.keepalive.every()/asksPerRepeat, shortestAsk)
	// The jitter keeps devices in the same flood from asking at the same time.
	next := make(chan struct{}, 1)
	time.AfterFunc(often/2+l.pauses.Jitter(often), func() { next <- struct{}{} })
	l.next = next
}

// listen waits for announcements, or for a reason to ask how far the run is.
func (c *Client) listen(ctx context.Context) (next, error) {
	idle := time.Now()
	select {
	case <-c.inbox.arrived: // arrived comes first if several channels are ready
		c.session.queue = c.inbox.take()
		return goOn((*Client).hear)
	default:
	}
	select {
	case <-ctx.Done():
		return next{}, context.Cause(ctx)
	case <-c.inbox.arrived:
		c.session.queue = c.inbox.take()
		return goOn((*Client).hear)
	case <-c.session.listener.due():
		return c.session.listener.ask(ctx)
	case quiet := <-c.keepalive.quiet:
		if retry.Final(quiet.err) {
			return next{}, quiet.err
		}
		if c.inbox.lastHeard().After(quiet.noticed) ||
			quiet.alive && quiet.noticed.Before(idle) {
			// The silence is over, or came while this device was busy and its connection was good.
			return goOn((*Client).listen)
		}
		if quiet.alive { // a coordinator that waits for devices announces nothing
			c.session.silence = quiet.err
			return goOn((*Client).search)
		}
		return telling(waiting(quiet.err), (*Client).search)
	}
}

// search asks how far the run is, if no announcements come.
func (c *Client) search(ctx context.Context) (next, error) {
	if err := c.keepIfDue(); err != nil {
		return next{}, err
	}
	return goOn((*Client).look)
}
