package client

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// workSurvey answers an announcement without perturbations. Such an announcement begins a survey of
// losses, and not a round.
func (c *Client) workSurvey(ctx context.Context, a *arrival) (next, error) {
	p := c.follower.Plan()
	if !surveyable(a.Survey, p) {
		c.inbox.refuse()
		return idle(fmt.Errorf("%w: %d perturbations, a survey of kind %d (%v)", errUnusable,
			a.Perturbations, a.Survey, a.Survey))
	}
	if a.Survey == survey.Columns && p.Summed() {
		return c.workColumnSums(ctx, a)
	}
	if fault, kept, err := c.sendAgain(ctx, a); kept {
		return worked(waiting(fault), err)
	}
	if c.backoff.Lasts() && c.backsOff(ctx, a.N, a.closes) {
		return idle(nil)
	}
	run := func(ctx context.Context) (probe.Result, error) {
		return c.prober.Survey(ctx, c.follower.Replica(), a.Survey, a.N, c.member.slot)
	}
	if a.Survey == survey.Columns {
		run = c.describe
	}
	return computing(a, nil, computation{
		closes: a.closes, // a survey takes no late answers
		calls:  probe.Calls{Queries: a.Survey.Queries(p)},
		run:    run,
		send:   c.sendSurvey,
	})
}

// sendSurvey stores and sends the answer to a survey.
func (c *Client) sendSurvey(
	ctx context.Context, round *working, r *wire.Reply, found *probe.Result,
) (Progress, error) {
	r.Values = wire.AppendScalars(nil, found.Scalars...)
	r.Rest = survey.Answer(round.a.Survey)
	return c.sendReply(ctx, round, r)
}

// surveyable says whether a run with the plan may ask for a survey. The answer to a survey contains
// losses without noise or masks. So there are no surveys in runs in which devices add noise, or the
// coordinator sees only sums of contributions, except for statistics, which devices send as sums.
func surveyable(k survey.Kind, p *plan.Plan) bool {
	device, _ := p.Noisy()
	if device || p.Summed() && k != survey.Columns {
		return false
	}
	switch k {
	case survey.Columns:
		return p.Columns > 0 && len(p.Stats) == 0
	case survey.Mu:
		return p.MuAuto > 0 && p.Mu == 0 || survey.Sigma(p)
	case survey.Step:
		return p.StepAuto > 0 && p.StepSize == 0 && p.ServerRule != plan.ServerCMA
	case survey.Sketch:
		return p.Groups == grouping.Sketch
	}
	return false
}
