package device

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire/signed"
)

// An absence logs once that the broker answers but no coordinator of the run does, and later that a
// coordinator answers again. It says that no coordinator answers only if this device has heard of
// none, or if none is there any more. An absence passes all progress on to next.
type absence struct {
	next  client.Recorder
	nc    *nats.Conn
	run   string
	log   *slog.Logger
	heard time.Time // of a coordinator; zero: never
	told  bool
}

// Record implements [client.Recorder].
func (a *absence) Record(p client.Progress) error {
	switch {
	case p.Err == nil && p.State != client.Joining && p.Snapshot == 0:
		a.heard = time.Now()
		if a.told {
			a.told = false
			a.log.Info("a coordinator answers", "run", a.run)
		}
	case !a.told && a.nc.IsConnected() && unanswered(&p):
		a.told = true
		text, with := a.says(p.Err)
		a.log.Warn(text, append(with, "run", a.run, "broker", a.nc.ConnectedUrlRedacted())...)
	}
	return a.next.Record(p)
}

// says describes what was heard of a coordinator, and what failed.
func (a *absence) says(err error) (text string, with []any) {
	switch {
	case errors.Is(err, signed.ErrUnsigned):
		return "answers come, but none has the signature of --coordinator, trying again: compare it " +
			"with the key that `zofl status` prints", []any{"err", err}
	case a.heard.IsZero(), errors.Is(err, bus.ErrNoResponders):
		return "no coordinator answers, trying again: is zofl serve running, on this broker, and is " +
			"this the run of its plan?", nil
	default:
		ago := time.Since(a.heard).Round(time.Second).String() + " ago"
		return "the coordinator that this device heard does not answer now, trying again: is it busy, " +
			"or cut off?", []any{"heard", ago, "err", err}
	}
}

// unanswered says whether no coordinator answered. An answer to a request for a snapshot proves
// nothing about the coordinator, because witnesses answer such requests too.
func unanswered(p *client.Progress) bool {
	return errors.Is(p.Err, client.ErrQuiet) || p.State == client.Joining &&
		(errors.Is(p.Err, bus.ErrNoResponders) || errors.Is(p.Err, context.DeadlineExceeded))
}
