// Package source reads the records of a run from wherever they are: a log on
// disk that nobody has open, a log in a JetStream, or a running coordinator.
package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// A Source has the records of one run.
type Source interface {
	// Read calls f with records from, from+1, ... until f returns false or the
	// records end.
	Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error
	Close() error
}

// ErrEmpty: there is no record.
var ErrEmpty = errors.New("the log is empty")

// live asks a run's coordinator for the records, as devices do.
type live struct {
	nc      *nats.Conn
	bus     bus.Bus
	subject string
}

// requestTimeout bounds one request; requestTries is how often it is made.
const (
	requestTimeout = 5 * time.Second
	requestTries   = 4
)

// Live returns the records that the coordinator of a run serves. id is the
// name under which it asks.
func Live(nc *nats.Conn, run, id string) Source {
	return &live{nc: nc, bus: bus.NATS(nc), subject: wire.CatchUpSubject(run, id)}
}

// Read implements [Source].
func (l *live) Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error {
	for n := max(from, 1); ; {
		reply, err := l.fetch(ctx, n)
		if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
		if reply.Records.Len() == 0 {
			return nil
		}
		more := true
		reply.Records.Each(func(record []byte) bool {
			more = f(n, record) && ctx.Err() == nil
			n++
			return more
		})
		if !more {
			return context.Cause(ctx)
		}
	}
}

// fetch asks once, and again where no answer came in time.
func (l *live) fetch(ctx context.Context, from uint64) (wire.CatchUpReply, error) {
	frame := (&wire.CatchUpRequest{From: from, MaxBytes: wire.MaxFrame}).Append(nil)
	for try := 1; ; try++ {
		within, cancel := context.WithTimeout(ctx, requestTimeout)
		b, err := l.bus.Request(within, l.subject, frame)
		cancel()
		switch {
		case err == nil:
			return wire.DecodeCatchUpReply(b)
		case ctx.Err() != nil:
			return wire.CatchUpReply{}, context.Cause(ctx)
		case errors.Is(err, bus.ErrNoResponders), try == requestTries:
			return wire.CatchUpReply{}, err
		}
	}
}

// Close implements [Source].
func (l *live) Close() error {
	l.nc.Close()
	return nil
}
