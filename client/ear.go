package client

import (
	"context"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/retry"
)

// A device that is flooded asks the coordinator where the run is, often enough to take part: ten
// times between two repetitions of an announcement, but not more often than the coordinator answers
// a member for long.
const (
	asksPerRepeat = 10
	shortestAsk   = 250 * time.Millisecond
)

// deafAt is how many announcements are dropped between two questions before the device stops
// listening. Each takes its connection and its time, also unread.
const deafAt = 1000

// How long it does not listen: each time twice as long as before.
const (
	shortestRest = 5 * time.Second
	longestRest  = time.Minute
)

// An ear listens to the announcements of a subject, unless there are too many. The goroutine of Run
// owns it.
type ear struct {
	*Client
	subject string
	sub     bus.Subscription // nil: it does not listen now
	next    chan struct{}    // has a token when to ask again; nil: no need
	skipped uint64           // announcements that were dropped until the last question
	until   time.Time        // when to listen again
	rest    time.Duration    // how long not to listen next time
}

func (c *Client) newEar(subject string) *ear {
	return &ear{Client: c, subject: subject, rest: shortestRest}
}

// open begins to listen.
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

// ask asks where the run is, if announcements were dropped since the last question or the device
// does not listen. done says that the run has ended.
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

// reopen listens again once the pause is over. Being offline is no error.
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
	// Devices that are flooded together do not ask in step.
	next := make(chan struct{}, 1)
	time.AfterFunc(often/2+e.pauses.Jitter(often), func() { next <- struct{}{} })
	e.next = next
}
