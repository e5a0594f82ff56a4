package livetune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// try runs the given number of rounds with a step size. The run is paused before and after the
// trial.
func (t *tuning) try(ctx context.Context, step float32, rounds uint64) error {
	name, now := tune.StepField(t.plan)
	a := &trial{plan: *t.plan, first: math.NaN()}
	a.Trial = tune.Trial{Stage: Stage, Mu: a.plan.Mu, Step: step,
		Perturbations: a.plan.PerturbationsAt(t.base.rounds + 1), Batch: a.plan.Batch}
	s, err := t.status(ctx)
	if err != nil {
		return err
	}
	began := s.N
	t.here = place{} // unknown until the trial has ended
	if step != now {
		began, err = t.change(ctx, name+"="+strconv.FormatFloat(float64(step), 'g', -1, 32))
		if err != nil {
			return err
		}
	}
	tune.SetStep(&a.plan, step)
	done, err := t.legs(ctx, began, rounds, &a.Trial)
	if err != nil && !errors.Is(err, errDiverged) {
		return err
	}
	a.judge(done, errors.Is(err, errDiverged))
	if s, err = t.status(ctx); err != nil {
		return err
	}
	a.end = place{s.N, s.Rounds}
	t.here = a.end
	t.trials = append(t.trials, a)
	t.result.Trials = append(t.result.Trials, a.Trial)
	if t.Progress != nil {
		t.Progress(a.Trial)
	}
	return nil
}

// legs runs the given number of rounds after a record, as many at a time as surely fit the budget.
// legs counts their loss evaluations, and returns the coordinator's reports about the rounds.
func (t *tuning) legs(ctx context.Context, began, rounds uint64,
	a *tune.Trial) (done []operate.Round, err error) {
	for left := rounds; left > 0 && err == nil; {
		leg := min(left, t.budget.sure())
		if leg == 0 {
			break
		}
		after := t.base.rounds + rounds - left + leg
		if err = t.pauseAfter(ctx, after); err == nil {
			err = t.resume(ctx)
		}
		if err != nil {
			return nil, err
		}
		s, failed := t.await(ctx, after)
		if s == nil {
			return nil, failed
		}
		all, err := operate.Rounds(ctx, t.Conn, t.Config.Run, began)
		if err != nil {
			return nil, err
		}
		took := t.budget.spend(all[len(done):], s)
		a.Queries += took
		t.result.Queries += took
		if done, left = all, left-leg; failed != nil {
			return done, failed
		}
	}
	return done, nil
}

// judge sets the loss at the end of a trial: the mean over the last quarter of its rounds.
func (a *trial) judge(rounds []operate.Round, diverged bool) {
	var curve []float64
	for _, r := range rounds {
		if r.Survey != "" || r.Phase == 1 {
			continue
		}
		loss := math.Inf(1)
		if r.Loss != nil {
			loss = float64(*r.Loss)
		}
		curve = append(curve, loss)
	}
	a.Rounds, a.Loss = uint64(len(curve)), math.NaN()
	if len(curve) > 0 {
		a.first = curve[0]
		a.Loss = 0
		last := curve[len(curve)-(len(curve)+3)/4:]
		for _, loss := range last {
			a.Loss += loss / float64(len(last))
		}
	}
	if diverged || math.IsNaN(a.Loss) {
		a.Loss = math.Inf(1)
	}
}

// A budget is the remaining number of loss evaluations, with what is needed to compute how many a
// round takes.
type budget struct {
	plan    *plan.Plan
	left    uint64
	members uint32
}

// budgetOf returns the budget of a run with the given number of members.
func budgetOf(c *Config, p *plan.Plan, members uint32) (budget, error) {
	b := budget{plan: p, left: c.Queries, members: max(members, 1)}
	b.left = cmp.Or(b.left, uint64(len(c.Factors))*(c.Rounds+1)*b.most())
	if least := 2 * b.most(); b.left < least {
		return b, fmt.Errorf("%w within %d loss evaluations: give %d or more: "+
			"a trial of one round may take as many", ErrUnfit, b.left, least)
	}
	return b, nil
}

// most returns the largest number of loss evaluations of a round. A device evaluates the losses of
// a record once, however many attempts ask for them.
func (b *budget) most() uint64 {
	p := b.plan
	sum := p.PhaseQueries(0, p.MaxPerturbations())
	if p.Phases() == 2 {
		sum = p.PhaseQueries(1, p.MaxPerturbations()) + p.PhaseQueries(2, p.MaxPerturbations())
	}
	if p.Groups == grouping.Sketch {
		sum += b.surveyed(survey.Sketch.String())
	}
	return sum * uint64(b.members)
}

// surveyed returns the loss evaluations of a device that answers a survey.
func (b *budget) surveyed(kind string) uint64 {
	return survey.Named(kind).Queries(b.plan)
}

// sure returns how many rounds surely fit the remaining budget. sure reserves the evaluations of
// the round that is open when the run pauses.
func (b *budget) sure() uint64 { return max(b.left/b.most(), 1) - 1 }

// rounds returns the number of rounds of a trial when left trials remain: the wanted number, or as
// many as fit the budget if each round asks as many devices as the plan says.
func (b *budget) rounds(wanted, trials uint64) uint64 {
	if b.sure() == 0 {
		return 0
	}
	usual := max(b.most()/uint64(b.members)*uint64(min(b.plan.Sampled(b.members), b.members)), 1)
	return min(wanted, max(b.left/trials/usual, 2)-1)
}

// spend subtracts from the budget the evaluations of rounds, and of the round that was open at the
// pause. Devices that were asked count, whether or not they answered.
func (b *budget) spend(rounds []operate.Round, s *operate.Status) uint64 {
	usual := uint64(b.members)
	if s.Present >= s.Members {
		usual = min(uint64(b.plan.Sampled(b.members)), usual)
	}
	sum := usual * b.most() / uint64(b.members)
	for _, r := range rounds {
		asked, queries := usual, uint64(0)
		switch {
		case r.Survey != "":
			asked, queries = uint64(b.members), b.surveyed(r.Survey)
		case r.Phase == 0 && b.plan.Phases() == 2:
			queries = b.plan.PhaseQueries(2, r.Perturbations)
		default:
			queries = b.plan.PhaseQueries(r.Phase, r.Perturbations)
		}
		if r.Attempt > 0 {
			asked = uint64(b.members)
		}
		sum += max(asked, uint64(r.Contributors)) * queries
	}
	b.left -= min(b.left, sum)
	return sum
}
