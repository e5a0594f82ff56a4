package contest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// A Method is one of the methods that an experiment compares: fields of a plan, and the step
// sizes from which [Rules.Tune] chooses.
type Method struct {
	Name   string // short, for names of runs
	Title  string
	Preset string    // empty: decomfl
	Set    []string  // field=value, as in files
	Steps  []float32 // values of the field that Step names; 0 leaves it as it is
	Step   string    // empty: step
	// Queries is the number of queries of a client that takes part in every round; 0 means the
	// queries of the rules.
	Queries uint64
}

// With returns the method with further fields, under another name.
func (c Method) With(name, title string, set ...string) Method {
	c.Name, c.Title = name, title
	c.Set = append(slices.Clone(c.Set), set...)
	return c
}

// At returns the method with other step sizes.
func (c Method) At(steps ...float32) Method {
	c.Steps = steps
	return c
}

// StepName returns the name of the plan's field that holds the step size.
func (c *Method) StepName() string {
	return cmp.Or(c.Step, "step")
}

// Fields applies the method to a plan, with one of the method's step sizes. Tests check that the
// method's settings are fields of plans.
func (c *Method) Fields(p *plan.Plan, step float32) {
	set := slices.Clone(c.Set)
	if step != 0 {
		set = append(set, fmt.Sprintf("%s=%v", c.StepName(), step))
	}
	names, err := planfile.SetAll(p, set)
	if err != nil {
		panic("paper: internal error: " + err.Error())
	}
	preset.Fit(p, names...)
}

// Rules are the conditions for all methods: data, fleet, and budget.
type Rules struct {
	Name     string // short, for names of runs
	Training lab.Training
	Base     func(*plan.Plan) // applied before the methods' fields
	Queries  uint64           // of a client that takes part in every round
	Times    uint64           // least number of measurements of a model
	Rounds   uint64           // most of a run; 0: as the queries allow
}

// plan applies the rules and the method, with one step size, to a plan.
func (t *Rules) plan(p *plan.Plan, c *Method, step float32) {
	t.Base(p)
	c.Fields(p, step)
}

// Enter returns the training of a method with a step size, with as many rounds as the number of
// queries allows.
func (t *Rules) Enter(c Method, step float32) (*lab.Training, error) {
	one := t.Training
	one.Name = Padded(fmt.Sprintf("%s-%s-%s", t.Name, c.Name, lab.Token(step)))
	one.Preset = cmp.Or(c.Preset, "decomfl")
	one.Set = func(p *plan.Plan) { t.plan(p, &c, step) }
	p, err := run.Plan(one.Preset, one.Name, 1, one.Task.Dim, one.Clients, one.Asked)
	if err != nil {
		return nil, err
	}
	one.Set(p)
	one.Rounds = Affordable(p, cmp.Or(c.Queries, t.Queries))
	if t.Rounds > 0 {
		one.Rounds = min(one.Rounds, t.Rounds)
	}
	one.Every = max(one.Rounds/t.Times, 1)
	return &one, nil
}

// StepOf returns the name and the value of the field that sets the step size of a plan. If the
// server rule has a step size, StepOf returns that field. The value is 0 if devices find the step
// size.
func StepOf(p *plan.Plan) (string, float32) {
	if p.ServerStep > 0 {
		return "server_step", p.ServerStep
	}
	return "step", p.StepSize
}

// Padded pads names to one length, because every message contains the run's name, and experiments
// compare bytes.
func Padded(name string) string {
	const length = 24
	return name + strings.Repeat("-", max(length-len(name), 0))
}

// Affordable returns the number of rounds, at least one, for which a client's queries
// suffice. With scaffold-1 a round's first phase counts twice, because most clients in the second
// were not in the first.
func Affordable(p *plan.Plan, queries uint64) uint64 {
	spent, rounds := uint64(0), uint64(0)
	for {
		perturbations := p.PerturbationsAt(rounds + 1)
		spent += p.PhaseQueries(uint8(p.Phases()), perturbations)
		if p.Phases() == 2 {
			spent += p.PhaseQueries(1, perturbations)
		}
		if p.Control == plan.ScaffoldPoint {
			spent += p.PhaseQueries(1, perturbations)
		}
		if spent > queries {
			return max(rounds, 1)
		}
		rounds++
	}
}

// An Entry is a method with the step size chosen for it, and its runs by seed from 1.
type Entry struct {
	Method
	Chosen  float32
	Results lab.Results
}

// Tune trains a method with each of its step sizes on the first seed, then with the best step
// size on the other seeds. The best step size has the highest accuracy after all queries. Tune
// chooses a step size whose run diverged only if all runs diverged. After an error Tune returns
// the results so far.
func (t *Rules) Tune(ctx context.Context, e *lab.Env, id string, c Method,
	seeds int) (*Entry, error) {
	best, most := &Entry{Method: c}, math.Inf(-1)
	for _, step := range c.Steps {
		one, err := t.Enter(c, step)
		if err != nil {
			return best, err
		}
		r, err := e.TrainOne(ctx, id, one, 1)
		if err != nil {
			if best.Results == nil && r != nil {
				best.Results = lab.Results{r}
			}
			return best, fmt.Errorf("%s, seed 1: %w", one.Name, err)
		}
		accuracy := Reached(r.Curve, run.Accuracy, QueriesOf, math.MaxUint64)
		e.Say("%s: accuracy %.4f", one.Name, accuracy)
		if accuracy > most {
			most, best.Chosen, best.Results = accuracy, step, lab.Results{r}
		}
	}
	one, err := t.Enter(c, best.Chosen)
	for seed := uint64(2); seed <= uint64(seeds) && err == nil; seed++ {
		var r *run.Result
		if r, err = e.TrainOne(ctx, id, one, seed); r != nil {
			best.Results = append(best.Results, r)
		}
	}
	return best, err
}
