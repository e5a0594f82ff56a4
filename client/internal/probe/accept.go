package probe

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/zofl/zofl/client/internal/isolate"
	"github.com/zofl/zofl/client/internal/memlimit"
	"github.com/zofl/zofl/plan"
)

// An answer is the app's decision on a plan.
type answer struct {
	plan *plan.Plan // nil: the app has not answered
	err  error
}

// Accepts asks the app whether it accepts a plan. Accepts asks once, and asks again only about
// another plan, or after Close. The error matches [memlimit.ErrPlan] if the app refuses. Otherwise
// the error is [ErrBusy], or the cause of ctx, which may end before the app answers.
func (p *Prober) Accepts(ctx context.Context, plan *plan.Plan) error {
	if p.cfg.Accept == nil {
		return nil
	}
	if said := &p.answer; said.plan != nil && reflect.DeepEqual(said.plan, plan) {
		return said.err
	}
	shown, asked := *plan, *plan // the replica changes its plan, and the app may change its copy
	_, err := isolate.Call(ctx, &p.calls, func() (none struct{}, err error) {
		return none, p.cfg.Accept(&shown)
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, ErrBusy):
		return err
	case err != nil:
		err = fmt.Errorf("%w: the app refuses it: %w", memlimit.ErrPlan, err)
	}
	p.answer = answer{&asked, err}
	return err
}
