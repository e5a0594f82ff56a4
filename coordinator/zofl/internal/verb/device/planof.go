package device

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/signed"
)

// itemCheckpoint is the item of a store in which the client keeps the state, and with it the plan.
const itemCheckpoint = "checkpoint"

// A planner finds the plan of a run before the client does, for a device that needs to know it.
type planner struct {
	nc    *nats.Conn
	run   string
	id    string
	keys  signed.Keys
	store client.Store // nil: none
	log   *slog.Logger

	heard *plan.Plan // that the client heard of last; nil: none yet
}

// plan returns the plan that the client heard of, or that in the store. Without one, plan asks the
// coordinator until it answers.
func (q *planner) plan(ctx context.Context) (*plan.Plan, error) {
	if q.heard != nil {
		return q.heard, nil
	}
	if p := q.stored(); p != nil {
		return p, nil
	}
	src := source.Live(q.nc, q.run, q.id, q.keys)
	for told, wait := false, time.Second; ; wait = min(2*wait, 30*time.Second) {
		p, err := source.PlanOf(ctx, src)
		switch {
		case err == nil && p.Dim > 0:
			return p, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, bus.ErrPermission), errors.Is(err, bus.ErrClosed):
			return nil, err
		case err != nil && !told && !errors.Is(err, bus.ErrOffline): // the connection tells of that
			told = true
			q.log.Warn("waiting for the plan", "err", err)
		}
		if err := pause.For(ctx, wait/2+rand.N(wait/2)); err != nil {
			return nil, err
		}
	}
}

// stored returns the plan in the store, or nil.
func (q *planner) stored() (p *plan.Plan) {
	if q.store == nil {
		return nil
	}
	_ = q.store.Load(itemCheckpoint, func(r *io.SectionReader) error {
		head, err := replica.ReadHead(r)
		if err == nil && head.Plan.Run == q.run {
			p = head.Plan
		}
		return err
	})
	return p
}
