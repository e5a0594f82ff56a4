package mobile

import (
	"context"
	"sync"

	"github.com/zofl/zofl/bus"
)

// A link is a Bus over the connection of the present Run, of which there is another
// each time. Without one it is offline.
type link struct {
	failed func(err error) // told what a handler panicked with

	mu  sync.Mutex // guards bus
	bus bus.Bus    // nil: no connection
}

var _ bus.Checker = (*link)(nil)

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

// Subscribe is that of the connection, but that a handler which panics ends Run and
// not the process: its goroutine is the connection's.
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
