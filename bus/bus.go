package bus

import (
	"context"
	"errors"
)

// Message is what a subscription receives. The receiver may keep Data, but must not
// modify it: other subscribers may have the same bytes.
type Message struct {
	Subject string // as published, without wildcards
	Reply   string // where the sender waits for an answer; empty if the sender does not wait
	Data    []byte
}

// Bus carries messages between subjects. Its methods may be called from any
// goroutine, and from the handler of a subscription.
//
// A subject is one or more tokens separated by dots. A token is not empty and has no white space.
// In a subscription the token * stands for any single token, and a last token > for one or more
// tokens.
//
// Errors name the call and the subject. An error matches one of the Err variables if a caller can
// act on it.
type Bus interface {
	// Publish sends data to a subject and does not wait until somebody receives it. The caller may
	// reuse data when Publish returns. To answer a request, publish to the Reply of its message.
	Publish(subject string, data []byte) error

	// Subscribe calls handle for each message to a subject, one at a time, in order, on a goroutine of
	// its own. Messages that arrive while handle runs wait in a queue. The subscription drops and
	// counts messages that arrive while the queue is full.
	Subscribe(subject string, handle func(Message)) (Subscription, error)

	// Request publishes data and returns the first answer, or ErrNoResponders at once
	// if nobody subscribes to the subject, or the error of ctx. The caller may keep the
	// answer, but must not modify it.
	Request(ctx context.Context, subject string, data []byte) ([]byte, error)
}

// Subscription is the result of Bus.Subscribe.
type Subscription interface {
	// Unsubscribe ends delivery and discards waiting messages. Unsubscribe does not wait for the
	// handler: one call of the handler may be running or about to begin. If the handler itself calls
	// Unsubscribe, no other call of the handler follows. After a first Unsubscribe, or after the bus
	// was closed, Unsubscribe does nothing.
	Unsubscribe() error

	// Dropped returns how many messages the subscription dropped because the handler was too slow.
	Dropped() int
}

var (
	// ErrNoResponders is returned by Request when nobody subscribes to the subject. Try
	// again later.
	ErrNoResponders = errors.New("no responders")

	// ErrOffline is returned by Publish and Request when the connection is down and the message was
	// not sent. The caller may go on, and send again when a later message asks for a message.
	ErrOffline = errors.New("offline")

	// ErrClosed is returned by all calls after the bus or its connection was closed for good. The
	// caller should stop then.
	ErrClosed = errors.New("closed")

	// ErrPermission is returned by Check, and by a Request whose context ended, when
	// the server denied the subject. An administrator has to change the permissions of
	// this user.
	ErrPermission = errors.New("denied by the server's permissions")

	// ErrSubscriptions is returned by Check when the server refuses more subscriptions of this
	// connection. An administrator has to raise max_subscriptions.
	ErrSubscriptions = errors.New("more subscriptions than the broker's max_subscriptions")

	// ErrTooLong is returned by Publish and Request for a message that is longer than the server
	// accepts: see MaxPayload. An administrator has to raise the server's max_payload.
	ErrTooLong = errors.New("longer than the broker's max_payload")

	// ErrSubject is returned for a subject that is not well formed, or has a wildcard where none is
	// allowed. ErrSubject shows a mistake in the program.
	ErrSubject = errors.New("malformed subject")
)

// Checker is a Bus that can report whether the server denied a subject. See Check.
type Checker interface {
	Check(ctx context.Context, subject string) error
}

// Check makes a round trip to the server and returns ErrPermission if the server has denied an
// earlier Subscribe or Publish of b to the subject. Check returns nil if it knows of no denial. So
// nil proves a permission only if b used the subject just before. A Bus that is no Checker never
// denies a subject.
//
// A connection remembers only its last error. So call Check after each Subscribe, before the next
// one, and once after the first Publish.
//
// If the connection is down, or is replaced during the round trip, Check returns ErrOffline at
// once. If ctx ends before the server answers, the connection may be dead although it is not
// closed: see Reconnect.
func Check(ctx context.Context, b Bus, subject string) error {
	if c, ok := b.(Checker); ok {
		return c.Check(ctx, subject)
	}
	return nil
}

// Reconnector is a Bus over a connection that can be replaced. See Reconnect.
type Reconnector interface {
	Reconnect() error
}

// Reconnect drops the connection of b and returns at once; the connection then connects again by
// itself. Use Reconnect for a connection that is dead but not closed: messages sent on that
// connection are lost, nothing arrives, and no call fails. A Check whose context ends shows such a
// connection. Subscriptions remain; messages on the way are lost.
//
// Reconnect does nothing while the connection is down, so the pauses between attempts to
// connect stay as they are. A Bus that is no Reconnector has no connection to drop. After
// the connection was closed for good, the error matches ErrClosed.
func Reconnect(b Bus) error {
	if r, ok := b.(Reconnector); ok {
		return r.Reconnect()
	}
	return nil
}

// Chooser is a Bus that can skip answers. See RequestGood.
type Chooser interface {
	RequestGood(ctx context.Context, subject string, data []byte,
		good func(answer []byte) bool) ([]byte, error)
}

// RequestGood makes a request and returns the first answer that good accepts. RequestGood skips
// other answers until ctx ends. Several programs may answer a request if their permissions allow
// it. The goroutine of the caller calls good. At least 1000 answers can wait for good; the bus
// drops further answers. With a Bus that is no Chooser, RequestGood gets only the first answer. If
// good refuses that answer, the error is ErrNoResponders, and the caller may ask again.
func RequestGood(ctx context.Context, b Bus, subject string, data []byte,
	good func(answer []byte) bool) ([]byte, error) {
	if c, ok := b.(Chooser); ok {
		return c.RequestGood(ctx, subject, data, good)
	}
	answer, err := b.Request(ctx, subject, data)
	if err == nil && !good(answer) {
		return nil, failed("request", subject, ErrNoResponders)
	}
	return answer, err
}

// Limited is a Bus with a longest message. See MaxPayload.
type Limited interface {
	MaxPayload() int64
}

// MaxPayload returns the length in bytes of the longest message that the server of b accepts. A
// connection learns that length from its server; before, MaxPayload returns 0. MaxPayload also
// returns 0 if b is not Limited.
func MaxPayload(b Bus) int64 {
	if l, ok := b.(Limited); ok {
		return l.MaxPayload()
	}
	return 0
}
