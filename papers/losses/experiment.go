package losses

import (
	"fmt"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
)

// Experiment trains every task with the preset without changes, and with nine fixed step sizes.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "losses",
		Title: "the default on losses of many kinds, untouched, against the best of nine fixed steps",
		Paper: "none: how well a step that finds itself does",
		Long:  "an hour",
		Takes: []string{"presets", "tasks", "rounds"},
		Do: func(t *lab.Trial) error {
			x, err := newTrial(t)
			if err != nil {
				return err
			}
			return x.all()
		},
	}
}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	presets []string
	tasks   []task
	powers  []int // of 4: what the middle step is multiplied by
	rounds  uint64
	seeds   int
}

var columns = []string{"task", "parameters", "devices", "preset", "step", "seed", "start", "loss",
	"ended"}

// shortRounds are those of a short experiment, the fewest after which steps can be told apart.
const shortRounds = 60

// newTrial returns a trial with the tasks, step sizes and rounds to run. A short experiment has
// three tasks, three step sizes and few rounds.
func newTrial(trying *lab.Trial) (t *trial, err error) {
	e := trying.Env
	t = &trial{Trial: trying, presets: []string{"zofl"}, powers: contest.Powers(e.Short),
		rounds: e.RoundsOr(300, shortRounds), seeds: e.SeedsOr(3)}
	t.Report.Table.Columns = columns
	t.Report.Summary.Columns = []string{"task", "parameters", "devices", "preset",
		"loss at the start", "untouched", "best fixed", "its step", "part of its fall"}
	t.tasks, err = lab.Pick("tasks", allTasks(), func(t task) string { return t.name }, e.Tasks,
		e.Few("quantile", "hinge", "pid"))
	if err == nil && e.Presets != nil {
		t.presets, err = lab.Chosen("presets", e.Presets, []string{"zofl", "zofl-shared"})
	}
	return t, err
}

// all runs one task after another. After an error the report has the complete parts so far.
func (t *trial) all() error {
	for i := range t.tasks {
		if err := t.tasks[i].ready(); err != nil {
			return err
		}
		for _, preset := range t.presets {
			c, err := t.cell(&t.tasks[i], preset)
			if err != nil {
				return fmt.Errorf("%s: %w", t.tasks[i].name, err)
			}
			t.tabulate(c)
			t.Env.Say("%s, %s: %s of the fall of the best step", t.tasks[i].name, preset, c.part())
		}
	}
	return nil
}

// tabulate adds a cell to the report.
func (t *trial) tabulate(c *cell) {
	for _, a := range c.all() {
		for seed, s := range a.scores {
			t.Report.Table.Add(c.task.name, c.task.dim, c.task.devices, c.preset, a.text(), seed+1,
				s.Start, s.Loss, s.Ended)
		}
	}
	best := c.best()
	t.Report.Summary.Add(c.task.what, c.task.dim, c.task.devices, c.preset, digits3(c.start()),
		digits3(c.own.loss()), digits3(best.loss()), best.text(), c.part())
	t.Report.Needs(t.rounds, shortRounds, "rounds")
	t.Report.Claim(c.share() >= enough, fmt.Sprintf("%s: %s untouched has at least %.0f %% of the "+
		"fall of the best of %d fixed steps", c.task.name, c.preset, 100*enough, len(t.powers)), "%s",
		c.part())
}

// enough is the share of the decrease with the best fixed step size that the preset without
// changes should reach.
const enough = 0.9
