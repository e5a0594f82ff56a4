package bus

import (
	"context"
	"errors"
)

// Message is what a subscription receives. Data and the strings may be kept;
// other subscribers may hold the same bytes, so Data must not be modified.
type Message struct {
	Subject string // as published, without wildcards
	Reply   string // where the sender waits for an answer; empty if it does not
	Data    []byte
}

// Bus carries messages between subjects. Its methods may be called from any
// goroutine, and from the handler of a subscription.
//
// A subject is one or more tokens separated by dots, none of them empty or
// holding white space. To subscribe, the token * stands for any one token, and
// a last token > for one or more.
//
// Errors say which call and which subject, and match one of the Err variables
// where a caller has something to do about them.
type Bus interface {
	// Publish sends data to a subject and does not wait for anybody to
	// receive it. Data may be reused as soon as it returns. A request is
	// answered by publishing to the Reply of its message.
	Publish(subject string, data []byte) error

	// Subscribe calls handle for each message to a subject, one at a time,
	// in order, on a goroutine of its own. Messages that arrive while handle
	// runs wait; beyond a limit they are dropped and counted.
	Subscribe(subject string, handle func(Message)) (Subscription, error)

	// Request publishes data and returns the first answer, or ErrNoResponders
	// at once if nobody listens to the subject, or the error of ctx. The
	// answer is the caller's to keep and must not be modified.
	Request(ctx context.Context, subject string, data []byte) ([]byte, error)
}

// Subscription is one interest in a subject.
type Subscription interface {
	// Unsubscribe ends delivery and discards what waits. It does not wait for
	// the handler: one call may be running, or just about to begin. Called
	// from the handler itself, no other call follows. A second Unsubscribe, or
	// one after the bus was closed, does nothing.
	Unsubscribe() error

	// Dropped returns how many messages were dropped since the subscription
	// began because the handler was too slow.
	Dropped() int
}

var (
	// ErrNoResponders is returned by Request when nobody listens to the
	// subject; a caller tries later.
	ErrNoResponders = errors.New("no responders")

	// ErrOffline is returned by Publish and Request when the connection is
	// down and the message was not sent; a caller goes on, and sends again
	// when it is asked again.
	ErrOffline = errors.New("offline")

	// ErrClosed is returned by all calls once the bus or its connection is
	// closed for good; a caller stops.
	ErrClosed = errors.New("closed")

	// ErrPermission is returned by Check, and by a Request that ran into the
	// end of its context, when the server denied the subject; somebody has to
	// change the permissions of this user.
	ErrPermission = errors.New("denied by the server's permissions")

	// ErrSubject is returned for a subject that is not well formed, or that
	// has a wildcard where there can be none: a mistake in the program.
	ErrSubject = errors.New("malformed subject")
)

// Checker is a Bus that can tell whether a subject was denied. See Check.
type Checker interface {
	Check(ctx context.Context, subject string) error
}

// Check makes a round trip to the server and returns ErrPermission if the
// server has denied an earlier Subscribe or Publish of b to the subject. It
// returns nil if it knows of no denial; that proves a permission only where
// the subject was used just before. A Bus that is no Checker denies nothing.
//
// A connection remembers its last error only, so call Check after each
// Subscribe, before the next, and once after the first Publish.
func Check(ctx context.Context, b Bus, subject string) error {
	if c, ok := b.(Checker); ok {
		return c.Check(ctx, subject)
	}
	return nil
}
