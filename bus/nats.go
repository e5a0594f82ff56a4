package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// A NATS subscription queues up to PendingMessages messages and PendingBytes bytes for a slow
// handler before the subscription drops messages. PendingMessages and PendingBytes are enough for
// one reply from each of a million devices. No memory is reserved in advance.
const (
	PendingMessages = 1 << 20
	PendingBytes    = 256 << 20
)

// answersPending and answersBytes bound the answers to one request that wait for RequestGood.
const (
	answersPending = 1 << 14
	answersBytes   = 8 << 20
)

// checkTimeout bounds a Check whose context has no deadline.
const checkTimeout = 5 * time.Second

// NATS returns a Bus over a connection, which still belongs to the caller. Package bus never dials,
// closes or drains the connection, and does not change its handlers. Only Reconnect makes the
// connection connect again, with [nats.Conn.ForceReconnect].
//
// Publish writes the message to the connection's buffer, which the connection flushes by itself.
// Request uses the connection's one inbox subscription. A user who may not subscribe to _INBOX.>
// must connect with nats.CustomInboxPrefix; otherwise every request ends only with its deadline.
// While the connection is down, a published message waits in the connection's reconnect buffer.
// With nats.ReconnectBufSize(-1) there is no such buffer: Publish returns ErrOffline, and no stale
// message is sent later.
func NATS(nc *nats.Conn) Bus {
	return &natsBus{nc: nc, before: nc.LastError()}
}

type natsBus struct {
	nc *nats.Conn

	// before is the last error that the connection had when the bus was created, so not an error of
	// this bus.
	before error
}

var (
	_ Checker     = (*natsBus)(nil)
	_ Reconnector = (*natsBus)(nil)
	_ Limited     = (*natsBus)(nil)
	_ Chooser     = (*natsBus)(nil)
)

func (b *natsBus) MaxPayload() int64 { return b.nc.MaxPayload() }

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
	return b.request(ctx, subject, func(ctx context.Context) (*nats.Msg, error) {
		return b.nc.RequestWithContext(ctx, subject, data)
	})
}

// RequestGood implements Chooser. Each request subscribes to an inbox of its own.
func (b *natsBus) RequestGood(ctx context.Context, subject string, data []byte,
	good func(answer []byte) bool) ([]byte, error) {
	return b.request(ctx, subject, func(ctx context.Context) (*nats.Msg, error) {
		inbox := b.nc.NewInbox()
		sub, err := b.nc.SubscribeSync(inbox)
		if err != nil {
			return nil, err
		}
		defer sub.Unsubscribe()
		err = sub.SetPendingLimits(answersPending, answersBytes)
		if err == nil {
			err = b.nc.PublishRequest(subject, inbox, data)
		}
		if err != nil {
			return nil, err
		}
		for {
			m, err := sub.NextMsgWithContext(ctx)
			switch {
			case errors.Is(err, nats.ErrSlowConsumer): // answers were dropped, but others may come
			case err != nil || good(m.Data):
				return m, err
			}
		}
	})
}

// request makes a request by calling b.ask, and translates the error.
func (b *natsBus) request(ctx context.Context, subject string,
	ask func(context.Context) (*nats.Msg, error)) ([]byte, error) {
	if !wellFormed(subject) {
		return nil, failed("request", subject, ErrSubject)
	}
	m, err := b.ask(ctx, ask)
	if err == nil {
		return m.Data, nil
	}
	if ctx.Err() != nil {
		denial := cmp.Or(b.denied(subject), b.inboxDenied())
		if denial == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			denial = b.answersDenied()
		}
		if denial != nil {
			err = fmt.Errorf("%w: %v (%w)", ErrPermission, denial, err)
		}
	}
	return nil, failed("request", subject, b.translate(err))
}

// ask makes a request, and returns errBroke as soon as the connection breaks. nats.go alone would
// go on waiting for an answer that can no longer come.
func (b *natsBus) ask(ctx context.Context,
	request func(context.Context) (*nats.Msg, error)) (*nats.Msg, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	broke := b.nc.StatusChanged(nats.RECONNECTING)
	defer b.nc.RemoveStatusListener(broke) // closes broke
	go func() {
		if _, ok := <-broke; ok {
			cancel(errBroke)
		}
	}()
	m, err := request(ctx)
	if err != nil && context.Cause(ctx) == errBroke {
		err = errBroke
	}
	return m, err
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
	// The server answers in order: when the flush returns, the connection has read every earlier
	// denial.
	if b.nc.IsReconnecting() {
		return failed("check", subject, ErrOffline)
	}
	reconnects := b.nc.Stats().Reconnects
	if err := b.nc.FlushWithContext(ctx); err != nil {
		if b.nc.IsReconnecting() || b.nc.Stats().Reconnects != reconnects {
			err = fmt.Errorf("%w (%w)", ErrOffline, err)
		}
		return failed("check", subject, b.translate(err))
	}
	if err := b.denied(subject); err != nil {
		return failed("check", subject, fmt.Errorf("%w (%w)", ErrPermission, err))
	}
	if err := b.nc.LastError(); err != b.before && errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
		return failed("check", subject, ErrSubscriptions)
	}
	return nil
}

// Reconnect implements Reconnector.
func (b *natsBus) Reconnect() error {
	if b.nc.IsReconnecting() {
		return nil
	}
	if err := b.nc.ForceReconnect(); err != nil {
		return fmt.Errorf("bus: reconnect: %w", translate(err))
	}
	return nil
}

// denied returns the connection's last error if it is a denial of the subject that the
// server sent after this bus was created.
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

// inboxDenied returns the connection's last error if it is the server's denial of the
// inbox subscription. A connection subscribes to its inbox once, perhaps before this bus
// was created.
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

// answersDenied subscribes to a subject for answers, and returns the server's denial of that. The
// server may have denied the subscription for answers long ago, and have reported another error
// since.
func (b *natsBus) answersDenied() error {
	if !b.nc.IsConnected() {
		return nil
	}
	sub, err := b.nc.SubscribeSync(b.nc.NewInbox())
	if err != nil {
		return nil
	}
	defer sub.Unsubscribe()
	if b.nc.FlushTimeout(time.Second) != nil { // a connection that may be dead
		return nil
	}
	return b.inboxDenied()
}

// translate wraps the connection's error in this package's error, if there is one for it.
func translate(err error) error {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return ErrNoResponders
	case errors.Is(err, nats.ErrConnectionClosed),
		errors.Is(err, nats.ErrConnectionDraining),
		errors.Is(err, nats.ErrInvalidConnection):
		return fmt.Errorf("%w (%w)", ErrClosed, err)
	case errors.Is(err, nats.ErrReconnectBufExceeded): // drop its text: "buffer full" misleads
		return ErrOffline
	case errors.Is(err, nats.ErrDisconnected),
		errors.Is(err, nats.ErrConnectionReconnecting):
		return fmt.Errorf("%w (%w)", ErrOffline, err)
	case errors.Is(err, nats.ErrBadSubject):
		return ErrSubject
	case errors.Is(err, nats.ErrMaxPayload):
		return ErrTooLong
	case broken(err):
		return fmt.Errorf("%w (%w)", ErrOffline, err)
	}
	return err
}

// broken reports whether an error comes from the socket. nats.go writes a message that is too long
// for its buffer to the socket at once, and returns the socket's error.
func broken(err error) bool {
	socket := (*net.OpError)(nil)
	return errors.As(err, &socket) || errors.Is(err, net.ErrClosed)
}

// errBroke: the connection broke while a request waited for its answer. nats.go then reports a
// closed connection, although it is already reconnecting.
var errBroke = fmt.Errorf("%w: the connection broke before the answer", ErrOffline)

func (b *natsBus) translate(err error) error {
	if errors.Is(err, nats.ErrConnectionClosed) && !b.nc.IsClosed() {
		return errBroke
	}
	if errors.Is(err, nats.ErrMaxPayload) {
		return fmt.Errorf("%w of %d bytes: raise max_payload to 65536, which suffices for all frames",
			ErrTooLong, b.nc.MaxPayload())
	}
	return translate(err)
}

func failed(call, subject string, err error) error {
	return fmt.Errorf("bus: %s %q: %w", call, subject, err)
}

type natsSubscription struct {
	sub     *nats.Subscription
	dropped atomic.Int64 // the last count read, which Dropped returns after the connection was closed
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
