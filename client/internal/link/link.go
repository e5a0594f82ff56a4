// Package link is the connection of a device to the coordinator of its run. The package makes
// requests, publishes replies, and finds connections that are dead but not closed.
package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/notify"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/internal/verify"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
	"github.com/zofl/zofl/wire/signed"
)

// ErrQuiet says that this device hears no coordinator.
var ErrQuiet = errors.New("no word of a coordinator")

var errNoAnswer = fmt.Errorf("%w: no answer", ErrQuiet)

// A Link is this device's connection to the coordinator, with a method for each kind of request.
// The goroutine of Run owns a Link. Any goroutine may call Check, Examine, Report and Step.
type Link struct {
	bus      bus.Bus
	reviver  *reviver
	run, id  string
	timeout  time.Duration        // of a request
	interval func() time.Duration // at which the coordinator repeats announcements
	heard    func() time.Time     // the time of the last announcement
	log      *slog.Logger
	signed   *verify.Asker                 // nil: the device accepts any answer
	allowed  bool                          // the server permits this device to publish replies
	teller   atomic.Pointer[notify.Teller] // nil: the device tells the operator nothing
	room     room
}

var _ follow.Source = (*Link)(nil)

// Config holds what a link needs.
type Config struct {
	Bus     bus.Bus
	Run, ID string
	Timeout time.Duration // of a request
	Keys    signed.Keys   // the coordinator's keys; nil: the device accepts any answer
	About   func() deviceinfo.Device
	Logger  *slog.Logger
}

// New returns a link. Call [Link.Follow] before all other methods.
func New(cfg Config) *Link {
	l := &Link{
		bus: cfg.Bus, reviver: newReviver(&cfg), run: cfg.Run, id: cfg.ID,
		timeout: cfg.Timeout, log: cfg.Logger,
	}
	if cfg.Keys != nil {
		l.signed = verify.NewAsker(cfg.Keys)
	}
	if cfg.About != nil {
		l.teller.Store(&notify.Teller{Ask: cfg.About, Logger: cfg.Logger})
	}
	return l
}

// Follow tells the link how often the coordinator repeats announcements, and when the last
// announcement came.
func (l *Link) Follow(interval func() time.Duration, heard func() time.Time) {
	l.interval, l.heard = interval, heard
}

// Timeout is how long a request may take.
func (l *Link) Timeout() time.Duration { return l.timeout }

// Refusals returns how many answers were not from the coordinator, and how many of these the device
// dropped unread.
func (l *Link) Refusals() (refused, unread uint64) {
	if l.signed == nil {
		return 0, 0
	}
	return l.signed.Refusals()
}

// News says whether there is something new to tell the operator of this device.
func (l *Link) News() bool {
	t := l.teller.Load()
	return t != nil && t.Due()
}

// Holds says whether the device has numbers that it did not send yet.
func (l *Link) Holds() bool {
	t := l.teller.Load()
	return t != nil && t.Holds()
}

// Report sends the operator a number of the app's own, with the next news.
func (l *Link) Report(name string, value float64) error {
	if l.teller.Load() == nil {
		l.teller.CompareAndSwap(nil, &notify.Teller{Logger: l.log})
	}
	return l.teller.Load().Report(name, value)
}

// request sends a frame to whoever answers on a subject and returns the answer. If there is no
// answer, request examines the connection.
func (l *Link) request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	return l.insist(ctx, subject, func(ctx context.Context) ([]byte, error) {
		return l.bus.Request(ctx, subject, frame)
	})
}

// ask sends a frame to the coordinator and returns the coordinator's answer. If the device has the
// coordinator's key, ask ignores answers that are not signed for this very request.
func (l *Link) ask(ctx context.Context, subject string, frame []byte) ([]byte, error) {
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

// insist makes a request within the link's timeout. If there is no answer, insist examines the
// connection.
func (l *Link) insist(ctx context.Context, subject string,
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
func (l *Link) Records(ctx context.Context, frame []byte) ([]byte, error) {
	return l.long(l.ask(ctx, subjects.CatchUp(l.run, l.id), frame))
}

// Snapshot implements [follow.Source]. A passive replica may answer. A passive replica signs
// nothing: instead, the coordinator vouches for the snapshot's digest.
func (l *Link) Snapshot(ctx context.Context, frame []byte) ([]byte, error) {
	return l.long(l.request(ctx, subjects.Snapshot(l.run, l.id), frame))
}

// Object implements [follow.Source].
func (l *Link) Object(ctx context.Context, frame []byte) ([]byte, error) {
	return l.long(l.ask(ctx, subjects.Object(l.run, l.id), frame))
}

// Upload sends a piece of a vector and returns the answer.
func (l *Link) Upload(ctx context.Context, frame []byte) ([]byte, error) {
	return l.long(l.ask(ctx, subjects.Upload(l.run, l.id), frame))
}

// Step sends this device's part of a step of secure aggregation. The answer comes when other
// devices have sent their parts. So if no answer comes in time, Step does not examine the
// connection. Any goroutine may call Step.
func (l *Link) Step(ctx context.Context, frame []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.timeout, errNoAnswer)
	defer cancel()
	subject := subjects.Step(l.run, l.id)
	if l.signed == nil {
		return l.bus.Request(ctx, subject, frame)
	}
	return l.signed.Request(ctx, l.bus, subject, frame)
}

// Join asks for a slot, the plan and the current announcement. The coordinator takes the app's
// numbers only from a member, so Join keeps them until the device is one. The error wraps a
// [LaterError] if the run takes no device now.
func (l *Link) Join(
	ctx context.Context, known *wire.Known, member bool,
) (wire.JoinReply, error) {
	says := known.Append(nil)
	if t := l.teller.Load(); t != nil {
		says = t.Append(says, member)
	}
	frame := (&wire.JoinRequest{Rest: says}).Append(nil)
	b, err := l.ask(ctx, subjects.Join(l.run, l.id), frame)
	if err != nil {
		return wire.JoinReply{}, fmt.Errorf("join: %w", err)
	}
	reply, err := wire.DecodeJoinReply(b)
	if err == nil && reply.Status == wire.JoinLater {
		err = LaterError(reply.Reason)
	}
	if err != nil {
		return reply, fmt.Errorf("join: %w", err)
	}
	return reply, nil
}

// A LaterError says why the run takes no device now.
type LaterError string

func (e LaterError) Error() string { return "the run is paused: " + string(e) }

// Publish sends a reply, and says whether it could send it. Being offline is no error: this device
// misses the round, and the next announcement shows how far the run is.
func (l *Link) Publish(ctx context.Context, shards uint32, frame []byte) (sent bool, err error) {
	subject := subjects.Reply(l.run, subjects.Shard(l.id, shards), l.id)
	err = l.bus.Publish(subject, frame)
	sent = err == nil
	if err == nil && !l.allowed {
		// The server drops a forbidden message without an error, so check once whether it is allowed.
		err = l.Check(ctx, subject, l.timeout)
		l.allowed = err == nil
	}
	switch {
	case err == nil:
	case retry.Final(err):
		return false, fmt.Errorf("reply: %w", err)
	case err != nil:
		l.log.Warn("reply not sent", "err", err)
	}
	return sent, nil
}

// Subscribe subscribes and checks that the server permits the subscription.
func (l *Link) Subscribe(
	ctx context.Context, subject string, handle func(bus.Message),
) (bus.Subscription, error) {
	sub, err := l.bus.Subscribe(subject, handle)
	if err != nil {
		return nil, err
	}
	if err := l.Check(ctx, subject, l.timeout); err != nil && retry.Final(err) {
		sub.Unsubscribe()
		return nil, err
	}
	return sub, nil
}

// Check asks whether the server denied a subject that the device has just used. An error that is
// not final means that the server did not answer within patience, and at most l.timeout.
func (l *Link) Check(ctx context.Context, subject string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, min(patience, l.timeout))
	defer cancel()
	return bus.Check(ctx, l.bus, subject)
}
