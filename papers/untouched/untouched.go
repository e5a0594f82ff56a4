package untouched

import (
	"fmt"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/tasks"
	"github.com/zofl/zofl/plan/preset"
)

// Experiment tests whether presets train well without changes. On tasks unlike those for which
// the presets were made, the experiment compares the accuracy of each preset with that of the
// best of nine step sizes.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "defaults",
		Title: "presets with nothing set but the model and the fleet, against the best of nine steps",
		Paper: "none: what a preset's own numbers are worth on other tasks",
		Long:  "a day; --presets decomfl half an hour a seed",
		Takes: []string{"presets", "tasks", "rounds"},
		Do: func(t *lab.Trial) error {
			size, err := sizeOf(t.Env)
			if err != nil {
				return err
			}
			return newTrial(t, size).all()
		},
	}
}

// usualRounds are the rounds of a run, unless its queries end it first. The claims are of a run of
// this length: another has another best step.
const usualRounds = 300

// A size says which presets and tasks are run, and for how long.
type size struct {
	tasks   []tasks.Task
	presets []string
	powers  []int  // of 4: what the step is multiplied by
	rounds  uint64 // most of a run
	queries uint64 // most of a device that takes part in every round
	seeds   int
}

// sizeOf returns the size for an environment. A short one has two presets and two
// tasks, and three steps.
func sizeOf(e *lab.Env) (*size, error) {
	s := &size{powers: contest.Powers(e.Short), rounds: e.RoundsOr(usualRounds, 20), queries: 12_000,
		seeds: e.SeedsOr(3)}
	var err error
	s.tasks, err = lab.Pick("tasks", eightTasks(), func(t tasks.Task) string { return t.Name },
		e.Tasks, e.Few("covtype-mlp", "digits-softmax"))
	if err == nil {
		if s.presets = e.Presets; s.presets == nil {
			s.presets = e.Few("decomfl", "decomfl-adam")
		}
		s.presets, err = lab.Chosen("presets", s.presets, preset.Names()) // in the order asked for
	}
	return s, err
}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	size  *size
	cells map[string]map[string]*cell // by preset and task
	done  int                         // cells
	// holdsOut says that devices train on a part of their rows, see apart.
	holdsOut bool
}

func newTrial(t *lab.Trial, s *size) *trial {
	x := &trial{Trial: t, size: s, cells: map[string]map[string]*cell{}}
	t.Report.Table.Columns = columns
	t.Report.Figure = chart.Chart{Title: "presets untouched", X: "task",
		Y: "points below the best step"}
	for _, name := range s.presets {
		x.cells[name] = map[string]*cell{}
	}
	return x
}

// all runs every preset on a task before the next task. After an error the report has the complete
// parts so far.
func (x *trial) all() error {
	defer x.conclude()
	for _, t := range x.size.tasks {
		b, err := newBench(x.Env, t)
		if err != nil {
			return err
		}
		if b.drawn && t.Data != tasks.Drawn {
			x.Env.Say("%s: no directory of data is given, so the data are drawn", t.Name)
		}
		for _, name := range x.size.presets {
			cell, err := x.cell(b, name)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", name, t.Name, err)
			}
			x.cells[name][t.Name] = cell
			x.done++
			x.Env.Say("%d of %d: %s, %s: %s", x.done, len(x.size.tasks)*len(x.size.presets),
				name, t.Name, cell.text())
		}
	}
	return nil
}
