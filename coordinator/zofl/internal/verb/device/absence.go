package device

import (
	"context"
	"errors"
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
)

// An absence logs once that the broker answers but no coordinator of the run does, and later that a
// coordinator answers again. An absence passes all progress on to next.
type absence struct {
	next client.Recorder
	nc   *nats.Conn
	run  string
	log  *slog.Logger
	told bool
}

// Record implements [client.Recorder].
func (a *absence) Record(p client.Progress) error {
	switch {
	case p.Err == nil && a.told && p.State != client.Joining:
		a.told = false
		a.log.Info("a coordinator answers", "run", a.run)
	case !a.told && a.nc.IsConnected() && unanswered(&p):
		a.told = true
		a.log.Warn("no coordinator answers, trying again: is zofl serve running, on this broker, and is "+
			"this the run of its plan?", "run", a.run, "broker", a.nc.ConnectedUrlRedacted())
	}
	return a.next.Record(p)
}

// unanswered says whether no coordinator answered. An answer to a request for a snapshot proves
// nothing about the coordinator, because witnesses answer such requests too.
func unanswered(p *client.Progress) bool {
	return errors.Is(p.Err, client.ErrQuiet) || p.State == client.Joining &&
		(errors.Is(p.Err, bus.ErrNoResponders) || errors.Is(p.Err, context.DeadlineExceeded))
}
