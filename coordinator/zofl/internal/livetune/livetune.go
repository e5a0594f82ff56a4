// Package livetune finds the step size of a run in progress. It tries several step sizes for some
// rounds each, by commands to the coordinator: a change of the step size, a pause after the last
// round, and a rollback to the state before the trials. The run keeps the model of the trial with
// the lowest loss at its end.
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
	// Queries bounds the loss evaluations of all devices in the trials. 0 means the number that the
	// trials need if every round asks every member.
	Queries uint64
	// Run calls Progress, unless nil, after each trial. Run calls Waiting, unless nil, whenever the
	// reason for which the run waits has changed.
	Progress func(tune.Trial)
	Waiting  func(string)
}

// A Result is the outcome of the trials. Its plan is the plan with which the run continues.
type Result struct {
	tune.Result
	Budget uint64
	Record uint64 // the last of the best trial, or the last before the trials
}

// ErrUnfit means that the run cannot be tuned in its present state. The error's text says why.
var ErrUnfit = errors.New("the run cannot be tuned")

// Run tunes a run. If ctx ends or a trial cannot go on, Run returns the run to the best state so
// far. Then Run returns the error, and the trials so far. The error matches [ErrUnfit], or is an
// error of package operate.
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
	n      uint64 // the last record that is part of the state
	rounds uint64
}

// A trial is the trial of one step size, and the state at its end.
type trial struct {
	tune.Trial
	plan  plan.Plan
	end   place
	first float64 // loss of the first round
}

// A tuning is a call of [Run] in progress.
type tuning struct {
	lead
	plan   *plan.Plan // the plan when the trials begin
	base   place      // the state before the trials
	here   place      // the state that the run is in, unless a trial is under way
	budget budget
	trials []*trial
	best   *trial
	result *Result
}

// begin pauses the run after the open round. If the plan leaves the step size to the devices, begin
// waits until the devices have found it. The trials begin there.
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

// prepare makes the result and the budget. The plan must be known before.
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

// tryAll tries all step sizes, each from the state before the trials.
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

// step returns the run's step size times a factor, rounded to six digits for people.
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

// conclude chooses the trial with the lowest loss, if that loss is below the mean loss of the
// trials' first rounds.
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

// target returns the state from which the run shall go on.
func (t *tuning) target() place {
	if t.best == nil {
		return t.base
	}
	return t.best.end
}

// because adds a reason to the result.
func (t *tuning) because(format string, values ...any) {
	t.result.Reasons = append(t.result.Reasons, fmt.Sprintf(format, values...))
}
