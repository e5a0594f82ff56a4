package untouched

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/tables"
	"github.com/zofl/zofl/papers/tasks"
	"github.com/zofl/zofl/stats"
)

// A form is what becomes of a task's columns before devices train on them, with a preset.
type form struct {
	name, preset string
	change       func(train, test *tables.Table)
}

// forms are the columns as the task has them, in units of their own, and ways back to one scale.
var forms = []form{
	{"scaled", "zofl", func(_, _ *tables.Table) {}},
	{"raw", "zofl", units},
	{"raw-adam", "decomfl-adam", units},
	{"raw-factors", "zofl", func(train, test *tables.Table) {
		units(train, test)
		f := factors(train)
		each(func(k int, v float32) float32 { return v * f[k] }, train, test)
	}},
	{"raw-stats", "zofl", func(train, test *tables.Table) {
		units(train, test)
		a := stats.New(train.Features)
		for i := range train.Len() {
			stats.Add(a, train.At(i))
		}
		s := stats.NewScaler(a.Columns())
		each(func(k int, v float32) float32 { return float32(s.Scale(k, float64(v))) }, train, test)
	}},
}

// Raw trains on columns in units of their own: as they are, by a factor for each column that is
// found from losses, and scaled by the statistics that devices pool.
func Raw() lab.Experiment {
	return lab.Experiment{
		ID:    "raw",
		Title: "columns multiplied by 10^-3 to 10^3, as they are and on one scale",
		Paper: "none: what `zofl stats` is for",
		Long:  "hours; with --screen a quarter of an hour on two cores",
		Takes: []string{"tasks", "rounds"},
		Do: func(t *lab.Trial) error {
			list, err := lab.Pick("tasks", eightTasks(), func(t tasks.Task) string { return t.Name },
				t.Env.Tasks, t.Env.Few("covtype-softmax", "digits-softmax"))
			if err != nil {
				return err
			}
			t.Report.Table.Columns = []string{"task", "split", "devices", "columns", "seed",
				"rounds", "queries", "accuracy", "loss", "ended"}
			x := &trial{Trial: t, size: &size{tasks: list, rounds: t.Env.RoundsOr(usualRounds, 20),
				queries: 12_000, seeds: t.Env.SeedsOr(3)}}
			return x.compareForms()
		},
	}
}

// compareForms runs every form of a task before the next task.
func (x *trial) compareForms() error {
	summary := &x.Report.Summary
	summary.Columns = []string{"task"}
	for _, f := range forms {
		summary.Columns = append(summary.Columns, f.name)
	}
	x.Report.Needs(x.size.rounds, usualRounds, "rounds")
	for _, t := range x.size.tasks {
		row, gap := []string{t.Name}, 0.0
		for _, f := range forms {
			accuracy, err := x.form(t, f)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", f.name, t.Name, err)
			}
			switch f.name {
			case "scaled":
				gap += accuracy
			case "raw-stats":
				gap -= accuracy
			}
			row = append(row, fmt.Sprintf("%.1f", 100*accuracy))
		}
		summary.Rows = append(summary.Rows, row)
		x.Env.Say("%d of %d: %v", len(summary.Rows), len(x.size.tasks), row)
		x.Report.Claim(100*gap <= 5, t.Name+": raw columns that devices scale by their statistics are "+
			"within 5 points of scaled ones", "%v", row)
	}
	return nil
}

// form runs a task in a form, and returns the mean accuracy over the seeds.
func (x *trial) form(t tasks.Task, f form) (float64, error) {
	train, test, drawn, err := t.Rows(x.Env)
	if err != nil {
		return 0, err
	}
	f.change(train, test)
	t.Name = t.Name + "-" + f.name
	return x.arm(benchOf(t, train, test, drawn), arm{name: f.name, preset: f.preset})
}

// each changes all values of tables.
func each(change func(column int, v float32) float32, list ...*tables.Table) {
	for _, t := range list {
		t.Values = slices.Clone(t.Values) // rows may be shared with others
		for i, v := range t.Values {
			t.Values[i] = change(i%t.Features, v)
		}
	}
}

// units gives each column a unit of its own, from 10^-3 to 10^3 of the one that it has.
func units(train, test *tables.Table) {
	rng := rand.New(rand.NewPCG(40, 0))
	unit := make([]float32, train.Features)
	for k := range unit {
		unit[k] = float32(math.Pow(10, 6*rng.Float64()-3))
	}
	each(func(k int, v float32) float32 { return v * unit[k] }, train, test)
}

// factors returns a factor for each column by which the loss curves alike along all of them. It is
// found as a run would have to find it, from losses of a softmax at zero on 200 rows: with weights
// of +-h for one column, h is changed until the loss rises by 1 to 4 percent of its start.
func factors(t *tables.Table) []float32 {
	rows, start := min(t.Len(), 200), math.Log(float64(t.Classes))
	f := make([]float32, t.Features)
	for k := range f {
		bend := func(h float64) float64 {
			return (lossAlong(t, k, rows, h)+lossAlong(t, k, rows, -h))/2 - start
		}
		h := 1.0
		for range 40 {
			if b := bend(h); b < 0.01*start {
				h *= 2
			} else if b > 0.04*start {
				h /= 2
			}
		}
		if bend(h) > 0.005*start { // else the column is the same in all rows
			f[k] = float32(h)
		}
	}
	return f
}

// lossAlong returns the loss of a softmax whose weights are 0 but for those of column k: h for the
// even classes, -h for the odd ones.
func lossAlong(t *tables.Table, k, rows int, h float64) (sum float64) {
	for i := range rows {
		z, all := h*float64(t.At(i)[k]), 0.0
		sign := func(class int) float64 { return float64(1 - 2*(class%2)) }
		for c := range t.Classes {
			all += math.Exp(sign(c)*z - math.Abs(z))
		}
		sum += math.Log(all) + math.Abs(z) - sign(int(t.Labels[i]))*z
	}
	return sum / float64(rows)
}
