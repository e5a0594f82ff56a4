package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
)

// A contestant is one of several methods that an experiment holds against each other:
// a plan's fields and a few steps to choose from.
type contestant struct {
	name   string // in names of runs: short
	title  string
	preset string    // empty: decomfl
	set    []string  // field=value, as files have them
	steps  []float32 // of the field that step names
	step   string    // empty: step
}

// with returns the contestant with more fields, under another name.
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

// stepName is the field that steps are of.
func (c *contestant) stepName() string {
	if c.step == "" {
		return "step"
	}
	return c.step
}

// fields makes a plan the contestant's. What it sets was tested to be fields of plans.
func (c *contestant) fields(p *wire.Plan, step float32) {
	for _, text := range append(slices.Clone(c.set), fmt.Sprintf("%s=%v", c.stepName(), step)) {
		field, value, _ := strings.Cut(text, "=")
		if err := p.Set(field, value); err != nil {
			panic("paper: internal error: " + err.Error())
		}
	}
}

// A contest is what contestants compete at: data, fleet, and how much they may spend.
type contest struct {
	name     string // in names of runs: short
	training Training
	base     func(*wire.Plan) // before the contestants' fields
	queries  uint64           // of a client that takes part in every round
	times    uint64           // that a model is measured, at least
}

// plan makes a plan the contest's and the contestant's.
func (t *contest) plan(p *wire.Plan, c *contestant, step float32) {
	t.base(p)
	c.fields(p, step)
}

// enter returns the training of a contestant with a step. Its rounds are as many as
// the queries are enough for.
func (t *contest) enter(c contestant, step float32) (*Training, error) {
	one := t.training
	one.Name = padded(fmt.Sprintf("%s-%s-%s", t.name, c.name, token(step)))
	if one.Preset = c.preset; one.Preset == "" {
		one.Preset = "decomfl"
	}
	one.Set = func(p *wire.Plan) { t.plan(p, &c, step) }
	p, err := run.Plan(one.Preset, one.Name, 1, one.Task.Dim, one.Clients, one.Asked)
	if err != nil {
		return nil, err
	}
	one.Set(p)
	one.Rounds = affordable(p, t.queries)
	one.Every = max(one.Rounds/t.times, 1)
	return &one, nil
}

// padded makes names of one length, as every message has the run's: bytes are compared.
func padded(name string) string {
	const length = 24
	return name + strings.Repeat("-", max(length-len(name), 0))
}

// affordable is for how many rounds so many queries of a client are enough, at least
// one. Of rounds with two phases those of the first count twice: most who take part in
// the second had none in the first.
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

// token writes a number as names of runs can have it.
func token(v float32) string {
	return strings.NewReplacer(".", "_", "+", "").Replace(strconv.FormatFloat(float64(v), 'g', 3, 32))
}

// An entry is a contestant with the step that was chosen, and its runs by seed from 1.
type entry struct {
	contestant
	chosen  float32
	results Results
}

// tune trains a contestant with each of its steps and the first seed, and with the best
// of them the other seeds. The best has most accuracy after its queries, and no step is
// chosen by a run that diverged if another did not. After an error it returns what there
// is.
func (e *Env) tune(ctx context.Context, id string, t *contest, c contestant, seeds int) (*entry, error) {
	best, most := &entry{contestant: c}, math.Inf(-1)
	for _, step := range c.steps {
		one, err := t.enter(c, step)
		if err != nil {
			return best, err
		}
		r, err := e.trainOne(ctx, id, one, 1)
		if err != nil {
			if best.results == nil && r != nil {
				best.results = Results{r}
			}
			return best, fmt.Errorf("%s, seed 1: %w", one.Name, err)
		}
		accuracy := reached(r.Curve, run.Accuracy, queriesOf, math.MaxUint64)
		e.logf("%s: accuracy %.4f", one.Name, accuracy)
		if accuracy > most {
			most, best.chosen, best.results = accuracy, step, Results{r}
		}
	}
	one, err := t.enter(c, best.chosen)
	for seed := uint64(2); seed <= uint64(seeds) && err == nil; seed++ {
		var r *run.Result
		if r, err = e.trainOne(ctx, id, one, seed); err == nil {
			best.results = append(best.results, r)
		}
	}
	return best, err
}
