package untouched

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/papers/tasks"
	"github.com/zofl/zofl/plan"
)

// Best compares the last model of presets without changes with the best one: that with the best
// value on a fifth of each device's rows, on which it does not train.
func Best() lab.Experiment {
	return lab.Experiment{
		ID:    "best",
		Title: "presets untouched, their last model and their best one, against the best fixed step",
		Paper: "none: what best is worth on small tables and on the eight tasks",
		Long:  "hours; with --screen a quarter of an hour on two cores",
		Takes: []string{"presets", "tasks", "rounds"},
		Do: func(t *lab.Trial) error {
			list, err := lab.Pick("tasks", slices.Concat(smallTasks(), eightTasks()),
				func(t tasks.Task) string { return t.Name }, t.Env.Tasks,
				t.Env.Few("wine", "digits-softmax"))
			if err != nil {
				return err
			}
			if t.Env.Presets == nil {
				t.Env.Presets = []string{"zofl", "zofl-shared"}
			}
			size, err := sizeOf(&lab.Env{Short: t.Env.Short, Rounds: t.Env.Rounds, Seeds: t.Env.Seeds,
				Presets: t.Env.Presets})
			if err != nil {
				return err
			}
			size.tasks = list
			x := newTrial(t, size)
			x.holdsOut = true
			return x.allBest()
		},
	}
}

// smallTasks are tables of scikit-learn's wheel, of 150 to 1,797 rows.
func smallTasks() (list []tasks.Task) {
	for _, name := range []string{"breast-cancer", "wine", "iris", "digits-8x8"} {
		list = append(list, tasks.Task{Name: name, Data: name, Scale: tasks.Standardized, Dirichlet: 0.3,
			Devices: 8, Train: 4000, Test: 5000})
	}
	return list
}

// measuredEvery is how many rounds are between evaluations, as preset.Measured sets it for records.
const measuredEvery = 10

// heldOut is how many rows of a device come to one that it holds out.
const heldOut = 5

// apart divides the rows of devices into those on which they train and those that they hold out.
func apart(shares [][]int) (train [][]int, held []int) {
	for _, rows := range shares {
		var rest []int
		for k, row := range rows {
			if k%heldOut == heldOut-1 {
				held = append(held, row)
			} else {
				rest = append(rest, row)
			}
		}
		train = append(train, rest)
	}
	return train, held
}

// A judged run has the test accuracies of its last model, of the model with the highest accuracy on
// held-out rows, and of the model with the lowest loss there.
type judged struct{ last, accuracy, loss float64 }

// allBest runs every preset on a task before the next task.
func (x *trial) allBest() error {
	x.Report.Table.Columns = []string{"preset", "task", "seed", "last", "best accuracy", "best loss"}
	x.Report.Summary.Columns = []string{"task", "preset", "last", "best accuracy", "best loss",
		"best fixed step"}
	worst, where := 0.0, ""
	for _, t := range x.size.tasks {
		b, err := newBench(x.Env, t)
		if err != nil {
			return err
		}
		for _, name := range x.size.presets {
			sum, fixed, err := x.best(b, name)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", name, t.Name, err)
			}
			row := []string{t.Name, name}
			for _, v := range []float64{sum.last, sum.accuracy, sum.loss, fixed} {
				row = append(row, fmt.Sprintf("%.1f", 100*v))
			}
			x.Report.Summary.Rows = append(x.Report.Summary.Rows, row)
			x.Env.Say("%v", row)
			if gap := 100 * (fixed - sum.loss); gap > worst || where == "" {
				worst, where = gap, t.Name+", "+name
			}
		}
	}
	x.Report.Needs(x.size.rounds, usualRounds, "rounds")
	x.Report.Claim(worst <= 1.5, "with the model of the lowest held-out loss every preset is within "+
		"1.5 points of its best fixed step", "%.2f points at most, on %s", worst, where)
	return nil
}

// best returns the means over the seeds of a preset without changes, and the highest mean accuracy
// of its fixed steps, which train on the same rows.
func (x *trial) best(b *bench, name string) (sum judged, fixed float64, err error) {
	for seed := uint64(1); seed <= uint64(x.size.seeds); seed++ {
		j, err := x.judge(b, name, seed)
		if err != nil {
			return sum, 0, err
		}
		n := float64(x.size.seeds)
		sum.last += j.last / n
		sum.accuracy += j.accuracy / n
		sum.loss += j.loss / n
		x.Report.Table.Add(name, b.Name, seed, j.last, j.accuracy, j.loss)
	}
	p, _, err := x.plan(b, name, 1)
	if err != nil {
		return sum, 0, err
	}
	for _, t := range x.trials(p) {
		if t.untouched {
			continue
		}
		for seed := range uint64(x.size.seeds) {
			s, err := x.score(b, name, t, seed+1)
			if err != nil {
				return sum, 0, err
			}
			t.scores = append(t.scores, s)
		}
		fixed = max(fixed, t.accuracy())
	}
	return sum, fixed, nil
}

// judge trains a preset without changes on four fifths of each device's rows.
func (x *trial) judge(b *bench, name string, seed uint64) (judged, error) {
	p, devices, err := x.plan(b, name, seed)
	if err != nil {
		return judged{}, err
	}
	shares, err := b.deal(devices, seed)
	if err != nil {
		return judged{}, err
	}
	train, held := apart(shares)
	task := b.task
	on := run.Classifier(b.model, models.NewNet(b.rows.Pick(held), b.Hidden...), 2)
	task.Metrics = append(slices.Clone(task.Metrics), "held_loss", "held_accuracy")
	task.Measure = func(x []float32) []float64 { return append(b.task.Measure(x), on.Measure(x)...) }
	cfg := run.Config{Name: name + ", " + b.Name, Seed: seed, Task: task, Plan: p, Shares: train,
		Order: run.Draws, Measure: func(round uint64) bool {
			return round%measuredEvery == 0 || round == p.Rounds
		}}
	x.Env.ScreenRun(&cfg)
	r, err := run.Train(x.Ctx, cfg)
	if err != nil {
		return judged{}, err
	}
	if r.Curve.Ended != "rounds" {
		return judged{}, fmt.Errorf("seed %d ended: %s", seed, r.Curve.Ended)
	}
	return judged{last: r.Curve.At(run.Accuracy, r.Curve.Last()),
		accuracy: chosen(r.Curve, "held_accuracy"), loss: chosen(r.Curve, "held_loss")}, nil
}

// chosen returns the test accuracy of the model that a plan's best keeps in mind.
func chosen(c *run.Curve, metric string) (accuracy float64) {
	p := &plan.Plan{}
	p.Best = metric
	best := runlog.NewBest(p)
	for _, point := range c.Measured() {
		_, now := best.Take(runlog.BestRecord{Record: runlog.Claim{N: point.Round}, Devices: 1,
			Value: point.Values[slices.Index(c.Metrics, metric)]}, 0)
		if now {
			accuracy = c.At(run.Accuracy, point.Round)
		}
	}
	return accuracy
}
