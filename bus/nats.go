package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// A NATS subscription holds up to PendingMessages messages and PendingBytes
// bytes for a slow handler before it drops any: one reply from each of a
// million devices. Nothing is reserved.
const (
	PendingMessages = 1 << 20
	PendingBytes    = 256 << 20
)

// checkTimeout bounds a Check whose context has no deadline.
const checkTimeout = 5 * time.Second

// NATS returns a Bus over a connection, which stays the caller's: it is never
// dialed, closed or drained here, and its handlers are not touched.
//
// Publish hands the message to the connection's buffer; its flusher sends it
// without being asked. Request uses the connection's one inbox subscription;
// where a user may not subscribe to _INBOX.>, connect with
// nats.CustomInboxPrefix, or every request runs into its deadline. While
// disconnected, a publish waits in the reconnect buffer if the connection has
// one; nats.ReconnectBufSize(-1) gives ErrOffline instead of stale messages
// later.
func NATS(nc *nats.Conn) Bus {
	return &natsBus{nc: nc, before: nc.LastError()}
}

type natsBus struct {
	nc *nats.Conn

	// before is the connection's last error when the bus was made: a denial
	// that this bus did not cause.
	before error
}

var _ Checker = (*natsBus)(nil)

func (b *natsBus) Publish(subject string, data []byte) error {
	if !wellFormed(subject) {
		return failed("publish", subject, ErrSubject)
	}
	if err := b.nc.Publish(subject, data); err != nil {
		return failed("publish", subject, b.translate(err))
	}
	return nil
}

func (b *natsBus) Subscribe(subject string, handle func(Message)) (Subscription, error) {
	if !wellFormedPattern(subject) {
		return nil, failed("subscribe", subject, ErrSubject)
	}
	sub, err := b.nc.Subscribe(subject, func(m *nats.Msg) {
		handle(Message{Subject: m.Subject, Reply: m.Reply, Data: m.Data})
	})
	if err == nil {
		err = sub.SetPendingLimits(PendingMessages, PendingBytes)
	}
	if err != nil {
		return nil, failed("subscribe", subject, b.translate(err))
	}
	return &natsSubscription{sub: sub}, nil
}

func (b *natsBus) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if !wellFormed(subject) {
		return nil, failed("request", subject, ErrSubject)
	}
	m, err := b.nc.RequestWithContext(ctx, subject, data)
	if err == nil {
		return m.Data, nil
	}
	if ctx.Err() != nil && (b.denied(subject) != nil || b.inboxDenied() != nil) {
		err = fmt.Errorf("%w (%w)", ErrPermission, err)
	}
	return nil, failed("request", subject, b.translate(err))
}

// Check implements Checker.
func (b *natsBus) Check(ctx context.Context, subject string) error {
	if err := ctx.Err(); err != nil {
		return failed("check", subject, err)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, checkTimeout)
		defer cancel()
	}
	// The server answers in order: once the flush returns, the connection has
	// read every denial of what was sent before.
	if err := b.nc.FlushWithContext(ctx); err != nil {
		return failed("check", subject, b.translate(err))
	}
	if err := b.denied(subject); err != nil {
		return failed("check", subject, fmt.Errorf("%w (%w)", ErrPermission, err))
	}
	return nil
}

// denied returns the connection's last error if it is the server's denial of
// the subject, since this bus was made.
func (b *natsBus) denied(subject string) error {
	err := b.nc.LastError()
	if err == b.before || !errors.Is(err, nats.ErrPermissionViolation) {
		return nil
	}
	if !strings.Contains(err.Error(), `"`+subject+`"`) {
		return nil
	}
	return err
}

// inboxDenied returns the connection's last error if it is the server's denial
// of the inbox subscription. That is made once in the life of a connection,
// perhaps before this bus.
func (b *natsBus) inboxDenied() error {
	err := b.nc.LastError()
	inbox := strings.TrimSuffix(nats.InboxPrefix, ".")
	if own := b.nc.Opts.InboxPrefix; own != "" {
		inbox = own
	}
	if !errors.Is(err, nats.ErrPermissionViolation) ||
		!strings.Contains(err.Error(), `Subscription to "`+inbox+`.`) {
		return nil
	}
	return err
}

// translate puts this package's error in front of the connection's where a
// caller branches on it.
func translate(err error) error {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return ErrNoResponders
	case errors.Is(err, nats.ErrConnectionClosed),
		errors.Is(err, nats.ErrConnectionDraining),
		errors.Is(err, nats.ErrInvalidConnection):
		return fmt.Errorf("%w (%w)", ErrClosed, err)
	case errors.Is(err, nats.ErrReconnectBufExceeded): // its text speaks of a buffer that was full
		return ErrOffline
	case errors.Is(err, nats.ErrDisconnected),
		errors.Is(err, nats.ErrConnectionReconnecting):
		return fmt.Errorf("%w (%w)", ErrOffline, err)
	case errors.Is(err, nats.ErrBadSubject):
		return ErrSubject
	case broken(err):
		return fmt.Errorf("%w (%w)", ErrOffline, err)
	}
	return err
}

// broken says whether an error is a socket's: a message that does not fit into the
// connection's buffer is written at once.
func broken(err error) bool {
	socket := (*net.OpError)(nil)
	return errors.As(err, &socket) || errors.Is(err, net.ErrClosed)
}

// errBroke: the connection broke while an answer was awaited. NATS says of that, too,
// that the connection is closed, although it connects again.
var errBroke = fmt.Errorf("%w: the connection broke before the answer", ErrOffline)

func (b *natsBus) translate(err error) error {
	if errors.Is(err, nats.ErrConnectionClosed) && !b.nc.IsClosed() {
		return errBroke
	}
	return translate(err)
}

func failed(call, subject string, err error) error {
	return fmt.Errorf("bus: %s %q: %w", call, subject, err)
}

type natsSubscription struct {
	sub     *nats.Subscription
	dropped atomic.Int64 // last count read, for when the connection knows no more
}

func (s *natsSubscription) Unsubscribe() error {
	s.Dropped()
	err := s.sub.Unsubscribe()
	switch {
	case err == nil,
		errors.Is(err, nats.ErrBadSubscription),
		errors.Is(err, nats.ErrConnectionClosed),
		errors.Is(err, nats.ErrConnectionDraining):
		return nil
	}
	return failed("unsubscribe", s.sub.Subject, translate(err))
}

func (s *natsSubscription) Dropped() int {
	if n, err := s.sub.Dropped(); err == nil {
		s.dropped.Store(int64(n))
	}
	return int(s.dropped.Load())
}
