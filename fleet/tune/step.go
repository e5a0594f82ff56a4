package tune

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/wire/survey"
)

// deepest bounds how far stage bracket decreases a step that diverges: by a factor of 4^deepest.
const deepest = 8

// beyond is how many further steps stage refine tries if the largest or the smallest tried step is
// the best.
const beyond = 2

// stepAt returns the plan's step times 4^exponent, within the plan's limits, and rounded for
// people.
func (t *tuning) stepAt(exponent int) float32 {
	v := t.base
	if exponent == 0 {
		return v
	}
	return rounded(min(max(math.Ldexp(float64(v), 2*exponent), 1e-18), 1e18))
}

// rounded returns v with two significant digits.
func rounded(v float64) float32 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 1, 64), 32)
	if err != nil {
		return float32(v)
	}
	return float32(r)
}

// survey lets the devices find the step, if the plan has step=auto. found says whether they found a
// step; stage refine then begins with that step.
func (t *tuning) survey(ctx context.Context) (found bool, err error) {
	if t.plan.StepAuto == 0 || t.plan.StepSize > 0 {
		return false, nil
	}
	a, err := t.try(ctx, "survey", t.plan, survey.FirstMove(t.plan), nil)
	if err != nil {
		return false, err
	}
	switch t.base = a.plan.StepSize; {
	case t.base == 0 && a.failed == nil:
		return false, &plan.Error{Field: "step", Value: "auto", Remedy: "no loss along the first moves " +
			"is below that of the first parameters, and the losses nearby are equal to it: give a finer " +
			"loss, begin at other parameters, or give a number"}
	case t.base == 0:
		return false, fmt.Errorf("the devices found no step: %w", a.failed)
	}
	t.because("step=%.3g is what the devices of a run with step=auto find by themselves.", t.base)
	if text := plancheck.FoundDecay(t.cfg.Plan); text != "" {
		t.because("%s", text)
	}
	t.found = true
	return true, nil
}

// withStep returns the plan with another step.
func (t *tuning) withStep(exponent int) *plan.Plan {
	p := *t.plan
	*t.step.of(&p) = t.stepAt(exponent)
	return &p
}

// tuneStep finds the step, or measures the plan's step for later stages.
func (t *tuning) tuneStep(ctx context.Context) error {
	at, short := 0, map[int]*attempt{}
	switch found, err := t.survey(ctx); {
	case err != nil:
		return err
	case found:
	case t.tunes("step"):
		near, err := t.line(ctx)
		if err == nil {
			at, err = t.bracket(ctx, near, short)
		}
		if err != nil {
			return err
		}
	case !t.tunes("perturbations") && !t.tunes("batch"):
		return nil
	}
	maps.DeleteFunc(short, func(_ int, a *attempt) bool { return !math.IsInf(a.trial.Loss, 1) })
	tried, err := t.refine(ctx, at, short)
	if err != nil {
		return err
	}
	var best *attempt
	for _, e := range slices.Sorted(maps.Keys(tried)) {
		if a := tried[e]; a.beats(best) {
			best = a
		}
	}
	if math.IsInf(best.trial.Loss, 1) {
		return fmt.Errorf("every %s from %.3g to %.3g failed: %w", t.step.name,
			t.stepAt(slices.Min(slices.Collect(maps.Keys(tried)))),
			t.stepAt(slices.Max(slices.Collect(maps.Keys(tried)))), best.failed)
	}
	if own := tried[0]; own != nil && t.isRival(own) && !t.isWorth(best, own, worthwhile) {
		best = own
	}
	t.found = t.found && best == tried[0]
	t.choose(best)
	if t.tunes("step") {
		t.because("%s: %s", t.stepNow(), t.comparison(tried, best))
	}
	return nil
}

// isRival says whether another step must gain at least 5 % more to replace the step of own. A
// plan's step has this advantage if it lowered the loss. A step that devices found has this
// advantage if its trial did not fail.
func (t *tuning) isRival(own *attempt) bool {
	return t.gain(own) > 0 || t.found && t.gain(own) > math.Inf(-1)
}

// choose makes an attempt the best attempt so far. If devices found its step, the tuned plan still
// lets the devices find the step.
func (t *tuning) choose(a *attempt) {
	t.best, t.result.Loss, t.result.Params = a, a.trial.Loss, a.params
	p := *a.plan
	t.plan = &p
	tuned := t.result.Plan
	if !t.found {
		*t.step.of(tuned) = *t.step.of(&p)
	}
	tuned.Perturbations, tuned.Batch = p.Perturbations, p.Batch
}

// stepNow returns the chosen step as a field of the tuned plan.
func (t *tuning) stepNow() string {
	if t.found {
		return t.step.name + "=auto"
	}
	return fmt.Sprintf("%s=%.3g", t.step.name, t.best.trial.Step)
}

// comparison returns a sentence that compares the chosen step with the others.
func (t *tuning) comparison(tried map[int]*attempt, chosen *attempt) string {
	var others []string
	least := true
	for _, e := range slices.Sorted(maps.Keys(tried)) {
		if a := tried[e]; a != chosen {
			others = append(others, fmt.Sprintf("%.3g: %s", a.trial.Step, a.outcome()))
			least = least && !a.beats(chosen)
		}
	}
	rest := strings.Join(others, ", ")
	if !least {
		return fmt.Sprintf("%.3g stays, whose loss after %d rounds is %s (%s): in so few rounds a gain "+
			"that is less than %.0f %% larger may be noise.", chosen.trial.Step, chosen.trial.Rounds,
			number(chosen.trial.Loss), rest, 100*(worthwhile-1))
	}
	if t.found {
		return fmt.Sprintf("%.3g, which devices found, has the least loss after %d rounds, %s (%s).",
			chosen.trial.Step, chosen.trial.Rounds, number(chosen.trial.Loss), rest)
	}
	return fmt.Sprintf("its loss after %d rounds is the least, %s (%s).", chosen.trial.Rounds,
		number(chosen.trial.Loss), rest)
}

// number writes a loss for people.
func number(v float64) string { return fmt.Sprintf("%.4g", v) }

// bracket searches, from 4^at times the plan's step on, for a step whose two neighbors end with a
// higher loss after a few rounds. bracket adds its attempts to tried.
func (t *tuning) bracket(ctx context.Context, at int, tried map[int]*attempt) (int, error) {
	// try returns nil if later stages need the remaining budget.
	try := func(e int) (*attempt, error) {
		if tried[e] != nil {
			return tried[e], nil
		}
		p := t.withStep(e)
		if t.budget.left < t.budget.bracket+t.cost(p, t.budget.short) {
			return nil, nil
		}
		a, err := t.try(ctx, "bracket", p, t.budget.short, nil)
		tried[e] = a
		return a, err
	}
	best, err := try(at)
	for least := at - deepest; best != nil && err == nil && at > least; {
		next := []int{at + 1, at - 1}
		if best.trial.Loss > t.result.Start { // far too large: the trial diverged, or would soon
			next = []int{at - 2}
		}
		moved := false
		for _, e := range next {
			var a *attempt
			if a, err = try(e); err != nil || a == nil {
				return at, err
			}
			if a.beats(best) || e == at-2 {
				best, at, moved = a, e, true
				break
			}
		}
		if !moved {
			break
		}
	}
	return at, err
}

// refine tries a step for many rounds, and also its neighbors if Run tunes the step. refine skips
// steps larger than a step that diverged, and adds its attempts to tried.
func (t *tuning) refine(ctx context.Context, at int, tried map[int]*attempt) (map[int]*attempt,
	error) {
	var best *attempt
	try := func(e int) (bool, error) {
		p := t.withStep(e)
		if tried[e] != nil || tooLarge(tried, e) || t.budget.left < t.cost(p, t.budget.long) {
			return false, nil
		}
		rival := best
		if rival != nil && math.IsInf(rival.trial.Loss, 1) {
			rival = nil // a trial that failed is no measure for others
		}
		a, err := t.try(ctx, "refine", p, t.budget.long, rival)
		if err != nil {
			return false, err
		}
		tried[e] = a
		if a.beats(best) {
			best, at = a, e
			return true, nil
		}
		return false, nil
	}
	failed := func() bool { return best == nil || math.IsInf(best.trial.Loss, 1) }
	for tried[at] != nil || tooLarge(tried, at) { // all tried steps diverged: try a smaller one
		at--
	}
	center := at
	exponents := []int{center}
	if t.tunes("step") {
		exponents = append(exponents, center-1, center+1)
	}
	for _, e := range exponents {
		if _, err := try(e); err != nil {
			return nil, err
		}
	}
	for range beyond {
		if !t.tunes("step") || at == center && !failed() {
			break
		}
		e := at + at - center
		if e = min(max(e, at-1), at+1); failed() {
			e = slices.Min(slices.Collect(maps.Keys(tried))) - 2
		}
		if better, err := try(e); err != nil || !better {
			return tried, err
		}
	}
	return tried, nil
}

// tooLarge says whether a step smaller than 4^exponent diverged.
func tooLarge(tried map[int]*attempt, exponent int) bool {
	for e, a := range tried {
		if e < exponent && math.IsInf(a.trial.Loss, 1) {
			return true
		}
	}
	return false
}
