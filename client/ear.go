package client

import (
	"context"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/retry"
)

// A device that receives a flood of announcements asks the coordinator where the run is. It asks
// ten times between two repetitions of an announcement, often enough to take part, but not more
// often than the coordinator answers one member.
const (
	asksPerRepeat = 10
	shortestAsk   = 250 * time.Millisecond
)

// deafAt is how many announcements the device drops between two questions before it unsubscribes.
// Each announcement costs time and traffic, even if nobody reads it.
const deafAt = 1000

// How long the device stays unsubscribed: each time twice as long as before.
const (
	shortestRest = 5 * time.Second
	longestRest  = time.Minute
)

// An ear subscribes to the announcements of a subject, and unsubscribes while there are too many.
// The goroutine of Run owns it.
type ear struct {
	*Client
	subject string
	sub     bus.Subscription // nil while unsubscribed
	next    chan struct{}    // has a token when it is time to ask again; nil: no need
	skipped uint64           // how many announcements were dropped by the last question
	until   time.Time        // when to subscribe again
	rest    time.Duration    // how long to stay unsubscribed next time
}

func (c *Client) newEar(subject string) *ear {
	return &ear{Client: c, subject: subject, rest: shortestRest}
}

// open subscribes.
func (e *ear) open(ctx context.Context) (err error) {
	if e.sub, err = e.link.Subscribe(ctx, e.subject, e.inbox.receive); err != nil {
		e.sub = nil
		return fmt.Errorf("announcements: %w", err)
	}
	return nil
}

func (e *ear) close() {
	if e.sub != nil {
		e.sub.Unsubscribe()
	}
	e.sub = nil
}

// due has a token when it is time to [ear.ask].
func (e *ear) due() <-chan struct{} {
	if e.next == nil {
		return e.inbox.flooded
	}
	return e.next
}

// ask asks where the run is, if the device dropped announcements since the last question or is
// unsubscribed. done says that the run has ended.
func (e *ear) ask(ctx context.Context) (done bool, err error) {
	_, now := e.inbox.refusals()
	dropped := now - e.skipped
	e.skipped = now
	switch {
	case e.sub == nil:
		if err := e.reopen(ctx); err != nil {
			return false, err
		}
	case dropped == 0:
		e.next, e.rest = nil, shortestRest
		return false, nil
	case dropped >= deafAt:
		e.cfg.Logger.Warn("flooded with announcements that bring nothing", "dropped", dropped,
			"pause", e.rest)
		e.close()
		e.until = time.Now().Add(e.rest)
		e.rest = min(2*e.rest, longestRest)
	}
	e.wait()
	return e.look(ctx)
}

// reopen subscribes again once the pause is over. Being offline is no error.
func (e *ear) reopen(ctx context.Context) error {
	if time.Now().Before(e.until) {
		return nil
	}
	if err := e.open(ctx); retry.Final(err) {
		return err
	}
	return nil
}

// wait sets the time of the next question.
func (e *ear) wait() {
	often := max(e.pulse.every()/asksPerRepeat, shortestAsk)
	// Its jitter keeps devices that are flooded together from asking together.
	next := make(chan struct{}, 1)
	time.AfterFunc(often/2+e.pauses.Jitter(often), func() { next <- struct{}{} })
	e.next = next
}
