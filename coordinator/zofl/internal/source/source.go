// Package source reads the records of a run: from a log that no process has open, from a log in
// JetStream, or from a running coordinator.
package source

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// A Source has the records of one run.
type Source interface {
	// Read calls f with records from, from+1, ... until f returns false or there are no more. f must
	// not keep the record's bytes after it returns.
	Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error

	// Vector returns the vector that a record names, with transport=dense. The error matches
	// [runlog.ErrNoObject] if the log does not store the vector (any more), and [runlog.ErrCorrupt] if
	// the vector's digest differs from the digest in the record.
	Vector(ctx context.Context, name runlog.ObjectName) ([]byte, error)

	// Base returns the record at which the log begins, and the state file for it; nil means that the
	// log begins with record 1.
	Base() (*runlog.Base, io.ReaderAt)

	Close() error
}

// ErrEmpty means that a log has no record.
var ErrEmpty = errors.New("the log is empty")

// ErrNoRecord means that a log does not have the record that was asked for.
var ErrNoRecord = errors.New("there is no record")

// live asks the coordinator of a run for records, as devices do.
type live struct {
	nc      *nats.Conn
	bus     bus.Bus
	run, id string
	keys    signed.Keys // of the coordinator; nil: any answer will do
	shorter uint64      // requested answers have 1/shorter of the bytes that this broker takes; 0 is 1
}

// requestTimeout bounds the wait for an answer to one request. requestTries is how often ask sends
// the request.
const (
	requestTimeout = 5 * time.Second
	requestTries   = 4
)

// Live returns the records that the coordinator of a run serves. The requests carry id as the name
// of the device. If keys has the coordinator's keys, the source ignores answers that none of these
// keys signed. Close closes nc.
func Live(nc *nats.Conn, run, id string, keys signed.Keys) Source {
	return &live{nc: nc, bus: bus.NATS(nc), run: run, id: id, keys: keys}
}

// Read implements [Source].
func (l *live) Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error {
	for n := max(from, 1); ; {
		reply, err := l.fetch(ctx, n)
		if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
		if start, ok := reply.Start(); ok && reply.Records.Len() == 0 {
			return fmt.Errorf("record %d: %w: the coordinator's log begins after record %d: read "+
				"it with --store once the coordinator is stopped", n, runlog.ErrBelow, start.N)
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

// fetch requests records from the given number on.
func (l *live) fetch(ctx context.Context, from uint64) (reply wire.CatchUpReply, err error) {
	b, err := l.ask(ctx, subjects.CatchUp(l.run, l.id), func() []byte {
		return (&wire.CatchUpRequest{From: from, MaxBytes: l.room(wire.MaxFrame)}).Append(nil)
	})
	if err != nil {
		return reply, err
	}
	return wire.DecodeCatchUpReply(b)
}

// room returns how many bytes an answer may have, at most most.
func (l *live) room(most uint64) uint64 {
	return wire.ShorterRoom(l.nc.MaxPayload(), most, l.shorter)
}

// ask sends a request, and sends it again if no answer comes in time. A broker between this one and
// the coordinator may accept only shorter messages and drop the answer. So each further request
// asks for a shorter answer.
func (l *live) ask(ctx context.Context, subject string, request func() []byte) ([]byte, error) {
	for try := 1; ; try++ {
		within, cancel := context.WithTimeout(ctx, requestTimeout)
		b, err := l.request(within, subject, request())
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			l.shorter = 4 * max(l.shorter, 1)
		}
		switch {
		case err == nil:
			return b, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, bus.ErrNoResponders):
			return nil, fmt.Errorf("no coordinator answers for run %q at %s: is `zofl serve` running, "+
				"on this broker, and is %q the `run` of its plan? (%w)", l.run,
				l.nc.ConnectedUrlRedacted(), l.run, err)
		case errors.Is(err, signed.ErrUnsigned):
			return nil, err
		case try == requestTries:
			return nil, fmt.Errorf("somebody serves run %q at %s, and no answer comes through: look at "+
				"`zofl serve`, and at this user's inbox (%w)", l.run, l.nc.ConnectedUrlRedacted(), err)
		}
	}
}

// request sends a request once, and waits for a signed answer if there are keys.
func (l *live) request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	if l.keys == nil {
		return l.bus.Request(ctx, subject, frame)
	}
	var nonce [signed.NonceLen]byte
	rand.Read(nonce[:]) // never fails
	frame = signed.Ask(frame, nonce)
	refused := 0
	b, err := bus.RequestGood(ctx, l.bus, subject, frame, func(answer []byte) bool {
		good := l.keys.Answer(subject, frame, answer) == nil
		if !good {
			refused++
		}
		return good
	})
	if err != nil && refused > 0 {
		err = fmt.Errorf("%d answers are %w: compare --coordinator with the key that `zofl status` "+
			"prints (%w)", refused, signed.ErrUnsigned, err)
	}
	return b, err
}

// Vector implements [Source]. It requests the pieces of the vector one after the other.
func (l *live) Vector(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	data, err := l.pieces(ctx, name.Digest)
	if err == nil && wire.HashObject(data) != name.Digest {
		err = fmt.Errorf("%w: its digest differs", runlog.ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("vector of record %d: %w", name.N, err)
	}
	return data, nil
}

func (l *live) pieces(ctx context.Context, digest [wire.ObjectLen]byte) (data []byte, err error) {
	for {
		request := wire.ObjectRequest{Digest: digest, Offset: uint64(len(data))}
		b, err := l.ask(ctx, subjects.Object(l.run, l.id), func() []byte {
			request.MaxBytes = l.room(wire.MaxPiece)
			return request.Append(nil)
		})
		if err != nil {
			return nil, err
		}
		piece, err := wire.DecodeObjectReply(b)
		switch {
		case err != nil:
			return nil, err
		case piece.Size == 0:
			return nil, runlog.ErrNoObject
		case piece.Offset != request.Offset || len(piece.Data) == 0:
			return nil, fmt.Errorf("got %d bytes at offset %d, asked for those at %d",
				len(piece.Data), piece.Offset, request.Offset)
		}
		if data = append(data, piece.Data...); uint64(len(data)) >= piece.Size {
			return data, nil
		}
	}
}

// Base implements [Source]. Base returns nil, because Live does not ask the coordinator for a base.
func (l *live) Base() (*runlog.Base, io.ReaderAt) { return nil, nil }

// Close implements [Source].
func (l *live) Close() error {
	l.nc.Close()
	return nil
}
