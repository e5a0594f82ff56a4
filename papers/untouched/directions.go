package untouched

import (
	"fmt"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/tasks"
)

// An arm is a preset with some fields set, such as those that say which devices share directions.
type arm struct {
	name   string
	preset string
	with   []string // fields to set

	matrices bool    // directions of rank 1
	longer   float64 // part of the rounds that it has more
}

// sharers are groups=auto, and the two rules between which groups=auto chooses.
var sharers = []arm{
	{name: "auto", preset: "zofl"},
	{name: "shared", preset: "zofl-shared"},
	{name: "own", preset: "zofl", with: []string{"sharing=per-client", "groups=none", "regroup=0"}},
}

// Directions compares groups=auto with shared directions in all rounds and with own directions in
// all rounds: on the eight tasks, and on variants of the tasks that deal the rows to devices more
// or less evenly.
func Directions() lab.Experiment {
	return lab.Experiment{
		ID:    "directions",
		Title: "groups=auto, beside shared directions and own ones",
		Paper: "none: how well the coordinator chooses for devices that are more or less alike",
		Long:  "hours; with --screen a quarter of an hour on two cores",
		Takes: []string{"tasks", "rounds"},
		Do: func(t *lab.Trial) error {
			list, err := lab.Pick("tasks", dealt(), func(t tasks.Task) string { return t.Name },
				t.Env.Tasks, t.Env.Few("covtype-softmax-10", "digits-softmax"))
			if err != nil {
				return err
			}
			t.Report.Table.Columns = []string{"task", "split", "devices", "directions", "seed",
				"rounds", "queries", "accuracy", "loss", "ended"}
			x := &trial{Trial: t, size: &size{tasks: list, rounds: t.Env.RoundsOr(300, 20),
				queries: 12_000, seeds: t.Env.SeedsOr(3)}}
			means, err := x.compare(sharers)
			if err != nil {
				return err
			}
			auto, shared, own := means[0], means[1], means[2]
			t.Report.Claim(auto >= max(shared, own),
				"groups=auto is no worse, in the mean over the tasks, than either choice for all of them",
				"%.2f, %.2f and %.2f", 100*auto, 100*shared, 100*own)
			return nil
		},
	}
}

// dealt returns the eight tasks and, for each model, tasks that deal the rows by Dirichlet
// distributions with parameters 1, 3 and 10. For Fashion-MNIST, only the MLP has such tasks.
func dealt() []tasks.Task {
	list := eightTasks()
	for _, t := range eightTasks() {
		if t.Name == "fashion-softmax" {
			continue
		}
		for _, alpha := range []float64{1, 3, 10} {
			other := t
			other.Name, other.Dirichlet = fmt.Sprintf("%s-%v", t.Name, alpha), alpha
			list = append(list, other)
		}
	}
	return list
}

// compare runs every arm on a task before the next task, and returns the mean accuracy of each arm
// over the tasks. After an error the report has the complete tasks so far.
func (x *trial) compare(arms []arm) (means []float64, err error) {
	summary := &x.Report.Summary
	summary.Columns = []string{"task"}
	means = make([]float64, len(arms))
	for _, a := range arms {
		summary.Columns = append(summary.Columns, a.name)
	}
	for _, t := range x.size.tasks {
		b, err := newBench(x.Env, t)
		if err != nil {
			return nil, err
		}
		row := []string{t.Name}
		for i, a := range arms {
			accuracy, err := x.arm(b, a)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", a.name, t.Name, err)
			}
			means[i] += accuracy / float64(len(x.size.tasks))
			row = append(row, fmt.Sprintf("%.1f", 100*accuracy))
		}
		summary.Rows = append(summary.Rows, row)
		x.Env.Say("%d of %d: %v", len(summary.Rows), len(x.size.tasks), row)
	}
	row := []string{"mean"}
	for _, mean := range means {
		row = append(row, fmt.Sprintf("%.2f", 100*mean))
	}
	summary.Rows = append(summary.Rows, row)
	x.Report.Needs(x.size.rounds, usualRounds, "rounds")
	return means, nil
}

// arm runs an arm on a task, and returns the mean accuracy over the seeds.
func (x *trial) arm(b *bench, a arm) (float64, error) {
	t := &variant{with: a.with, matrices: a.matrices, longer: a.longer}
	for seed := range uint64(x.size.seeds) {
		s, err := x.score(b, a.preset, t, seed+1)
		if err != nil {
			return 0, err
		}
		t.scores = append(t.scores, s)
		x.Report.Table.Add(b.Name, b.Split(), b.Devices, a.name, seed+1, s.Rounds, s.Queries,
			s.Accuracy, s.Loss, s.Ended)
	}
	return t.accuracy(), nil
}
