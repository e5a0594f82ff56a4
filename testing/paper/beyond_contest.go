package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/testing/paper/lab"
	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/planfile"
	"github.com/zofl/zofl/wire/preset"
)

// A contestant is one of several methods that an experiment compares: a plan's fields, and
// a few steps to choose from.
type contestant struct {
	name   string // short, for names of runs
	title  string
	preset string    // empty: decomfl
	set    []string  // field=value, as in files
	steps  []float32 // values of the field that step names; 0 leaves it as it is
	step   string    // empty: step
	// queries of a client that takes part in every round; 0: the contest's
	queries uint64
}

// with returns the contestant with further fields, under another name.
func (c contestant) with(name, title string, set ...string) contestant {
	c.name, c.title = name, title
	c.set = append(slices.Clone(c.set), set...)
	return c
}

// at returns the contestant with other steps.
func (c contestant) at(steps ...float32) contestant {
	c.steps = steps
	return c
}

// stepName returns the field that steps are values of.
func (c *contestant) stepName() string {
	if c.step == "" {
		return "step"
	}
	return c.step
}

// fields applies the contestant to a plan. Tests check that its settings are fields of
// plans.
func (c *contestant) fields(p *wire.Plan, step float32) {
	set := slices.Clone(c.set)
	if step != 0 {
		set = append(set, fmt.Sprintf("%s=%v", c.stepName(), step))
	}
	var names []string
	for _, text := range set {
		field, value, _ := strings.Cut(text, "=")
		if err := planfile.Set(p, field, value); err != nil {
			panic("paper: internal error: " + err.Error())
		}
		names = append(names, field)
	}
	preset.Fit(p, names...)
}

// A contest is what contestants compete on: data, fleet, and budget.
type contest struct {
	name     string // short, for names of runs
	training lab.Training
	base     func(*wire.Plan) // applied before the contestants' fields
	queries  uint64           // of a client that takes part in every round
	times    uint64           // least number of measurements of a model
	rounds   uint64           // most of a run; 0: as the queries allow
}

// plan applies the contest and the contestant to a plan.
func (t *contest) plan(p *wire.Plan, c *contestant, step float32) {
	t.base(p)
	c.fields(p, step)
}

// enter returns the training of a contestant with a step, with as many rounds as the
// queries allow.
func (t *contest) enter(c contestant, step float32) (*lab.Training, error) {
	one := t.training
	one.Name = padded(fmt.Sprintf("%s-%s-%s", t.name, c.name, lab.Token(step)))
	if one.Preset = c.preset; one.Preset == "" {
		one.Preset = "decomfl"
	}
	one.Set = func(p *wire.Plan) { t.plan(p, &c, step) }
	p, err := run.Plan(one.Preset, one.Name, 1, one.Task.Dim, one.Clients, one.Asked)
	if err != nil {
		return nil, err
	}
	one.Set(p)
	one.Rounds = affordable(p, cmp.Or(c.queries, t.queries))
	if t.rounds > 0 {
		one.Rounds = min(one.Rounds, t.rounds)
	}
	one.Every = max(one.Rounds/t.times, 1)
	return &one, nil
}

// padded pads names to one length: every message contains the run's name, and bytes are
// compared.
func padded(name string) string {
	const length = 24
	return name + strings.Repeat("-", max(length-len(name), 0))
}

// affordable returns the number of rounds, at least one, for which a client's queries
// suffice. In rounds with two phases the first phase counts twice, because most clients in
// the second phase were not in the first.
func affordable(p *wire.Plan, queries uint64) uint64 {
	spent, rounds := uint64(0), uint64(0)
	for {
		perturbations := p.PerturbationsAt(rounds + 1)
		spent += p.Queries(perturbations)
		if p.Control == wire.ScaffoldPoint {
			spent += 2 * p.PhaseQueries(1, perturbations)
		}
		if spent > queries {
			return max(rounds, 1)
		}
		rounds++
	}
}

// An entry is a contestant with its chosen step, and its runs by seed from 1.
type entry struct {
	contestant
	chosen  float32
	results lab.Results
}

// tune trains a contestant with each of its steps on the first seed, then with the best
// step on the other seeds. The best step has the most accuracy after the queries; a step
// whose run diverged is chosen only if all did. After an error tune returns the results so
// far.
func (t *contest) tune(ctx context.Context, e *lab.Env, id string, c contestant,
	seeds int) (*entry, error) {
	best, most := &entry{contestant: c}, math.Inf(-1)
	for _, step := range c.steps {
		one, err := t.enter(c, step)
		if err != nil {
			return best, err
		}
		r, err := e.TrainOne(ctx, id, one, 1)
		if err != nil {
			if best.results == nil && r != nil {
				best.results = lab.Results{r}
			}
			return best, fmt.Errorf("%s, seed 1: %w", one.Name, err)
		}
		accuracy := reached(r.Curve, run.Accuracy, queriesOf, math.MaxUint64)
		e.Say("%s: accuracy %.4f", one.Name, accuracy)
		if accuracy > most {
			most, best.chosen, best.results = accuracy, step, lab.Results{r}
		}
	}
	one, err := t.enter(c, best.chosen)
	for seed := uint64(2); seed <= uint64(seeds) && err == nil; seed++ {
		var r *run.Result
		if r, err = e.TrainOne(ctx, id, one, seed); r != nil {
			best.results = append(best.results, r)
		}
	}
	return best, err
}
