package mobile

import (
	"context"
	"sync"

	"github.com/zofl/zofl/bus"
)

// A link is a Bus over the connection of the current Run. Each Run has its own connection. Without
// a connection the link is offline.
type link struct {
	failed func(err error) // called with a handler's panic

	mu  sync.Mutex // guards bus
	bus bus.Bus    // nil: no connection
}

var (
	_ bus.Checker     = (*link)(nil)
	_ bus.Reconnector = (*link)(nil)
	_ bus.Chooser     = (*link)(nil)
)

func (l *link) set(b bus.Bus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bus = b
}

func (l *link) now() (bus.Bus, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bus == nil {
		return nil, bus.ErrOffline
	}
	return l.bus, nil
}

func (l *link) Publish(subject string, data []byte) error {
	b, err := l.now()
	if err != nil {
		return err
	}
	return b.Publish(subject, data)
}

func (l *link) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	b, err := l.now()
	if err != nil {
		return nil, err
	}
	return b.Request(ctx, subject, data)
}

func (l *link) RequestGood(ctx context.Context, subject string, data []byte,
	good func(answer []byte) bool) ([]byte, error) {
	b, err := l.now()
	if err != nil {
		return nil, err
	}
	return bus.RequestGood(ctx, b, subject, data, good)
}

// Subscribe subscribes on the current connection. A panic of a handler ends Run instead of the
// process. A handler runs on a goroutine of the connection, so Subscribe must recover there.
func (l *link) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	b, err := l.now()
	if err != nil {
		return nil, err
	}
	return b.Subscribe(subject, func(m bus.Message) {
		defer func() {
			if p := recover(); p != nil {
				l.failed(panicked(p))
			}
		}()
		handle(m)
	})
}

func (l *link) Check(ctx context.Context, subject string) error {
	b, err := l.now()
	if err != nil {
		return err
	}
	return bus.Check(ctx, b, subject)
}

func (l *link) Reconnect() error {
	b, err := l.now()
	if err != nil {
		return err
	}
	return bus.Reconnect(b)
}
