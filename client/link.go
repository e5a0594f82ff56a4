package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/ration"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/internal/tell"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
	"github.com/zofl/zofl/wire/subjects"
)

// ErrQuiet: this device hears no coordinator: none answers, or none announced anything for a
// while. It comes in [Progress].Err; Run goes on asking.
var ErrQuiet = errors.New("no word of a coordinator")

var errNoAnswer = fmt.Errorf("%w: no answer", ErrQuiet)

// A link is this device's connection to the coordinator, with a method for each kind of
// request. The goroutine of Run owns it. Any goroutine may check and examine.
type link struct {
	bus      bus.Bus
	reviver  *reviver
	run, id  string
	timeout  time.Duration        // of a request
	interval func() time.Duration // at which announcements are repeated
	heard    func() time.Time     // the last announcement
	log      *slog.Logger
	signed   *ration.Asker // nil: any answer will do
	allowed  bool          // the server permits this device to publish replies
	teller   tell.Teller
}

var _ follow.Source = (*link)(nil)

func newLink(cfg *Config) *link {
	return &link{
		bus: cfg.Bus, reviver: newReviver(cfg), run: cfg.Run, id: cfg.ID,
		timeout: cfg.RequestTimeout, log: cfg.Logger, signed: ration.NewAsker(cfg.keys()),
		teller: tell.Teller{Ask: cfg.About, Logger: cfg.Logger},
	}
}

// request sends a frame to whoever answers on a subject and returns the answer. If there is none,
// it examines the connection.
func (l *link) request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	return l.insist(ctx, subject, func(ctx context.Context) ([]byte, error) {
		return l.bus.Request(ctx, subject, frame)
	})
}

// ask sends a frame to the coordinator and returns its answer. With the coordinator's key it passes
// over answers that are not signed for this very request.
func (l *link) ask(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	if l.signed == nil {
		return l.request(ctx, subject, frame)
	}
	before, _ := l.signed.Refusals()
	b, err := l.insist(ctx, subject, func(ctx context.Context) ([]byte, error) {
		return l.signed.Request(ctx, l.bus, subject, frame)
	})
	refused, _ := l.signed.Refusals()
	refused -= before
	if err != nil && refused > 0 {
		err = fmt.Errorf("%w: %d answers: if there are no others, compare Config.Coordinator with "+
			"the key that `zofl status` prints (%w)", signed.ErrUnsigned, refused, err)
	}
	return b, err
}

// insist makes a request within the link's timeout. If there is no answer, it examines the
// connection.
func (l *link) insist(ctx context.Context, subject string,
	request func(context.Context) ([]byte, error)) ([]byte, error) {
	limited, cancel := context.WithTimeoutCause(ctx, l.timeout, errNoAnswer)
	defer cancel()
	b, err := request(limited)
	if err == nil || !errors.Is(context.Cause(limited), errNoAnswer) {
		return b, err
	}
	err = fmt.Errorf("%w in %v (%w)", errNoAnswer, l.timeout, err)
	if !retry.Final(err) {
		l.doubt(ctx, subject)
	}
	return nil, err
}

// Records implements [follow.Source].
func (l *link) Records(ctx context.Context, frame []byte) ([]byte, error) {
	return l.ask(ctx, subjects.CatchUp(l.run, l.id), frame)
}

// Snapshot implements [follow.Source]. A passive replica may answer, which signs nothing: the
// coordinator vouches for the digest.
func (l *link) Snapshot(ctx context.Context, frame []byte) ([]byte, error) {
	return l.request(ctx, subjects.Snapshot(l.run, l.id), frame)
}

// Object implements [follow.Source].
func (l *link) Object(ctx context.Context, frame []byte) ([]byte, error) {
	return l.ask(ctx, subjects.Object(l.run, l.id), frame)
}

// upload sends a piece of a vector and returns the answer.
func (l *link) upload(ctx context.Context, frame []byte) ([]byte, error) {
	return l.ask(ctx, subjects.Upload(l.run, l.id), frame)
}

// step sends this device's part of a step of secure aggregation. The answer comes when others have
// sent theirs, so that none comes in time is no reason to doubt the connection. It may be called
// beside Run's goroutine.
func (l *link) step(ctx context.Context, frame []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.timeout, errNoAnswer)
	defer cancel()
	subject := subjects.Step(l.run, l.id)
	if l.signed == nil {
		return l.bus.Request(ctx, subject, frame)
	}
	return l.signed.Request(ctx, l.bus, subject, frame)
}

// join asks for a slot, the plan and the current announcement. The error is a [laterError] if the
// run takes no device now.
func (l *link) join(ctx context.Context, known *wire.Known) (wire.JoinReply, error) {
	frame := (&wire.JoinRequest{Rest: l.teller.Append(known.Append(nil))}).Append(nil)
	b, err := l.ask(ctx, subjects.Join(l.run, l.id), frame)
	if err != nil {
		return wire.JoinReply{}, fmt.Errorf("join: %w", err)
	}
	reply, err := wire.DecodeJoinReply(b)
	if err == nil && reply.Status == wire.JoinLater {
		err = laterError(reply.Reason)
	}
	if err != nil {
		return reply, fmt.Errorf("join: %w", err)
	}
	return reply, nil
}

// A laterError is why the run takes no device now.
type laterError string

func (e laterError) Error() string { return "the run is paused: " + string(e) }

// publish sends a reply, and says whether it was sent. Being offline is no error: this device
// misses the round, and the next announcement shows where the run is.
func (l *link) publish(ctx context.Context, shards uint32, frame []byte) (sent bool, err error) {
	subject := subjects.Reply(l.run, subjects.Shard(l.id, shards), l.id)
	err = l.bus.Publish(subject, frame)
	sent = err == nil
	if err == nil && !l.allowed {
		// The server drops a forbidden message in silence: ask once.
		err = l.check(ctx, subject, l.timeout)
		l.allowed = err == nil
	}
	switch {
	case retry.Final(err):
		return false, fmt.Errorf("reply: %w", err)
	case err != nil:
		l.log.Warn("reply not sent", "err", err)
	}
	return sent, nil
}

// subscribe subscribes and checks that the server permits it.
func (l *link) subscribe(
	ctx context.Context, subject string, handle func(bus.Message),
) (bus.Subscription, error) {
	sub, err := l.bus.Subscribe(subject, handle)
	if err != nil {
		return nil, err
	}
	if err := l.check(ctx, subject, l.timeout); retry.Final(err) {
		sub.Unsubscribe()
		return nil, err
	}
	return sub, nil
}

// check asks whether the server denied a subject that was just used. An error that is not
// final means that the server did not answer within patience, and at most l.timeout.
func (l *link) check(ctx context.Context, subject string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, min(patience, l.timeout))
	defer cancel()
	return bus.Check(ctx, l.bus, subject)
}
