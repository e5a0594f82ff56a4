package watchtui

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// A remote is an [Operator] that sends requests over the run's broker.
type remote struct {
	ctx context.Context
	nc  *nats.Conn
	run string
}

// Remote returns the operator of a run at a broker, until the context ends.
func Remote(ctx context.Context, nc *nats.Conn, run string) Operator {
	return &remote{ctx, nc, run}
}

// Ask implements [Operator].
func (r *remote) Ask(q Question) Answer {
	ctx, cancel := context.WithTimeout(r.ctx, connect.AskWithin)
	defer cancel()
	a := Answer{Question: q}
	if a.Status, a.Err = operate.Ask(ctx, r.nc, r.run, operate.VerbStatus,
		operate.Request{}); a.Err != nil {
		return a
	}
	a.Points, a.Marks, a.Err = operate.NewHistory(ctx, r.nc, r.run, q.Since, q.Marks)
	if a.Err != nil {
		return a
	}
	a.Rows, a.Err = operate.Fleet(ctx, r.nc, r.run, q.View)
	if errors.Is(a.Err, operate.ErrNobody) { // an older coordinator does not know this request
		a.Err = nil
	}
	return a
}

// Command implements [Operator].
func (r *remote) Command(verb string) (*operate.Status, error) {
	ctx, cancel := context.WithTimeout(r.ctx, connect.AskWithin)
	defer cancel()
	return operate.Ask(ctx, r.nc, r.run, verb, operate.Request{By: operate.Who()})
}
