package untouched

import (
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/tasks"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// laws are directions whose signs are all independent, directions of rank 1, and these for 10 %
// more rounds.
var laws = []arm{
	{name: "rademacher", preset: "zofl"},
	{name: "lowrank", preset: "zofl", matrices: true},
	{name: "lowrank, 10 % longer", preset: "zofl", matrices: true, longer: 0.1},
}

// LowRank compares directions of rank 1 with directions of independent signs, after equally many
// losses: on those of the eight tasks whose model has a matrix that is large enough.
func LowRank() lab.Experiment {
	return lab.Experiment{
		ID:    "lowrank",
		Title: "directions of rank 1, beside directions of independent signs",
		Paper: "none: what the cheap directions of large models cost small ones",
		Long:  "hours; with --screen some minutes on two cores",
		Takes: []string{"tasks", "rounds"},
		Do: func(t *lab.Trial) error {
			list, err := lab.Pick("tasks", withMatrix(), func(t tasks.Task) string { return t.Name },
				t.Env.Tasks, t.Env.Few("covtype-mlp"))
			if err != nil {
				return err
			}
			t.Report.Table.Columns = []string{"task", "split", "devices", "directions", "seed",
				"rounds", "queries", "accuracy", "loss", "ended"}
			x := &trial{Trial: t, size: &size{tasks: list, rounds: t.Env.RoundsOr(usualRounds, 20),
				queries: 12_000, seeds: t.Env.SeedsOr(3)}}
			means, err := x.compare(laws)
			if err != nil {
				return err
			}
			const slack = 0.01
			t.Report.Claim(means[1] >= means[0]-slack,
				"rank 1 ends at most a point of accuracy lower, in the mean over the tasks",
				"%.2f, not %.2f", 100*means[1], 100*means[0])
			t.Report.Claim(means[2] >= means[0],
				"with 10 % more rounds it ends no lower", "%.2f, not %.2f", 100*means[2], 100*means[0])
			return nil
		},
	}
}

// withMatrix returns those of the eight tasks whose model has a matrix with as many rows and
// columns as a plan of distribution=lowrank asks for.
func withMatrix() (list []tasks.Task) {
	for _, t := range eightTasks() {
		if t.Name != "covtype-softmax" && t.Name != "digits-softmax" {
			list = append(list, t)
		}
	}
	return list
}

// lowRank gives a plan of a model directions of rank 1.
func lowRank(p *plan.Plan, m *models.Net) {
	p.Distribution, p.Segments = plan.LowRank, lab.Segments(m)
	for i := 0; i < len(p.Segments); i += 2 { // weights, and then biases
		s, outputs := &p.Segments[i], p.Segments[i+1].Len
		s.Rows = planfile.Rows(outputs, s.Len/outputs)
	}
}
