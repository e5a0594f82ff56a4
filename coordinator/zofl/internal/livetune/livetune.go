// Package livetune finds the step of a run while it goes on. It tries steps for some rounds each,
// by commands to the coordinator: a change of the step, a pause after the last round, and a
// rollback to where the trials began. It keeps the model of the trial that ended lowest.
package livetune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan"
)

// Stage is the stage of the trials in a result.
const Stage = "live"

// defaultRounds is the number of rounds of a trial.
const defaultRounds = 50

// Config says which run to tune, and which values to try.
type Config struct {
	Conn *nats.Conn
	Run  string
	// Factors multiply the run's step, in this order; nil means 1, 1/4 and 4.
	Factors []float32
	// Rounds is the number of rounds of a trial, if they fit the budget; 0 means 50.
	Rounds uint64
	// Queries bounds the loss evaluations of all devices in the trials. 0 means as many as the trials
	// take if every round asks every member.
	Queries uint64
	// Progress, unless nil, is called after each trial. Waiting, unless nil, is called whenever the
	// reason for which the run waits has changed.
	Progress func(tune.Trial)
	Waiting  func(string)
}

// A Result is the outcome of the trials. Its plan is the plan with which the run continues.
type Result struct {
	tune.Result
	Budget uint64
	Record uint64 // after which the run goes on: the end of the best trial, or where all began
}

// ErrUnfit means that the run cannot be tuned in its present state; the text says why.
var ErrUnfit = errors.New("the run cannot be tuned")

// Run tunes a run. If ctx ends or a trial cannot go on, it first returns the run to the best state
// so far. Then it returns the error, and the trials made so far. The error matches [ErrUnfit], or
// is one of package operate.
func Run(ctx context.Context, c Config) (*Result, error) {
	if c.Factors == nil {
		c.Factors = []float32{1, 0.25, 4}
	}
	c.Rounds = cmp.Or(c.Rounds, defaultRounds)
	t := &tuning{lead: lead{Config: &c}, result: &Result{}}
	t.result.Loss, t.result.Start = math.NaN(), math.NaN()
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	err := t.tryAll(ctx)
	t.conclude()
	if back := t.goOn(ctx); back != nil {
		err = errors.Join(err, fmt.Errorf("%w: return it with `zofl rollback %d` and `zofl resume`",
			back, t.target().n))
	}
	return t.result, err
}

// A place is a state of the run.
type place struct {
	n      uint64 // the record after which it is
	rounds uint64
}

// A trial is one step that was tried, and where it ended.
type trial struct {
	tune.Trial
	plan  plan.Plan
	end   place
	first float64 // loss of the first round
}

// A tuning is a Run in progress.
type tuning struct {
	lead
	plan   *plan.Plan // where the trials begin
	base   place      // likewise
	here   place      // the state that the run is in, unless a trial is under way
	budget budget
	trials []*trial
	best   *trial
	result *Result
}

// begin pauses the run where the trials begin: after the open round, and not before devices found a
// step, if that is left to them.
func (t *tuning) begin(ctx context.Context) error {
	s, err := t.status(ctx)
	switch {
	case err != nil:
		return err
	case s.End != "":
		return fmt.Errorf("%w: it has ended (%s): tune the plan of another run", ErrUnfit, s.End)
	case s.State == "paused" && s.Waits == "":
		return fmt.Errorf("%w: it is paused (%s): `zofl resume` lets it go on", ErrUnfit, s.Reason)
	}
	plan, err := t.planNow(ctx)
	if err != nil {
		return err
	}
	if err := t.fits(plan, s.Rounds); err != nil {
		return err
	}
	after := firstRound(plan, s.Rounds)
	err = t.pauseAfter(ctx, after)
	if err == nil {
		s, err = t.await(ctx, after)
	}
	if err == nil {
		t.base = place{s.N, s.Rounds}
		t.here = t.base
		t.plan, err = t.planNow(ctx)
	}
	if err == nil {
		err = t.prepare(s.Members)
	}
	if err != nil {
		return errors.Join(err, t.goOn(ctx))
	}
	return nil
}

// prepare makes the result and the budget, once the plan is known.
func (t *tuning) prepare(members uint32) (err error) {
	r := t.result
	r.Plan, r.Record = t.plan, t.base.n
	r.Field, _ = tune.StepField(t.plan)
	if _, step := tune.StepField(t.plan); !(step > 0) {
		return fmt.Errorf("%w: its %s is %v after round %d", ErrUnfit, r.Field, step, t.base.rounds)
	}
	t.budget, err = budgetOf(t.Config, t.plan, members)
	r.Budget = t.budget.left
	return err
}

// tryAll tries all steps, each from where the trials begin.
func (t *tuning) tryAll(ctx context.Context) error {
	for i, factor := range t.Factors {
		rounds := t.budget.rounds(t.Rounds, uint64(len(t.Factors)-i))
		if rounds == 0 {
			t.because("The budget had no room for %s=%.3g.", t.result.Field, t.step(factor))
			continue
		}
		if err := t.rollback(ctx, t.base); err != nil {
			return err
		}
		if err := t.try(ctx, t.step(factor), rounds); err != nil {
			t.because("The trial of %s=%.3g was cut short: not all losses that it took are counted.",
				t.result.Field, t.step(factor))
			return err
		}
	}
	return nil
}

// step returns the run's step times a factor, in six digits for people.
func (t *tuning) step(factor float32) float32 {
	_, step := tune.StepField(t.plan)
	if factor == 1 {
		return step
	}
	product := strconv.FormatFloat(float64(step)*float64(factor), 'g', 6, 64)
	rounded, err := strconv.ParseFloat(product, 32)
	if err != nil {
		return float32(step * factor)
	}
	return float32(rounded)
}

// conclude chooses the best trial, if its loss ended below the loss of the first rounds.
func (t *tuning) conclude() {
	r, sum, begun := &t.result.Result, 0.0, 0.0
	for _, a := range t.trials {
		if a.first < math.Inf(1) {
			sum += a.first
			begun++
		}
		if t.best == nil || a.Loss < t.best.Loss {
			t.best = a
		}
	}
	if len(t.trials) == 0 {
		return
	}
	r.Start = sum / begun
	if !(t.best.Loss < r.Start) {
		t.best = nil
		t.because("No trial brought the loss below that of the first rounds, %.4g: the run goes on "+
			"after record %d, as it was.", r.Start, t.base.n)
		return
	}
	r.Loss, r.Plan, t.result.Record = t.best.Loss, &t.best.plan, t.best.end.n
	t.because("%s=%.3g: its loss is the least, %.4g. The run goes on with it after record %d, where "+
		"its trial ended.", r.Field, t.best.Step, t.best.Loss, t.best.end.n)
}

// target returns the state that the run is to go on from.
func (t *tuning) target() place {
	if t.best == nil {
		return t.base
	}
	return t.best.end
}

// because adds a reason.
func (t *tuning) because(format string, values ...any) {
	t.result.Reasons = append(t.result.Reasons, fmt.Sprintf(format, values...))
}
