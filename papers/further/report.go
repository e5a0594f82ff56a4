package further

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/papers/ideas"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
)

// A result is an arm's result on a task with its best step.
type result struct {
	arm   *arm
	step  float64
	ends  bool            // the step is an end of the grid
	seeds [][]ideas.Point // by seed
}

// trained are the columns of a measurement.
var trained = []string{"task", "arm", "step", "seed", "rounds", "queries", "bytes", "samples",
	"test_loss", "accuracy"}

// all trains every arm on a task before the next task. After an error the report has the complete
// parts so far.
func (x *trial) all() error {
	x.Report.Table.Columns = trained
	results := map[string][]result{}
	defer func() { x.conclude(results) }()
	for i := range x.tasks {
		t := &x.tasks[i]
		train, test, err := t.models(x.Env)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		for j := range x.arms {
			r, err := x.tune(t, train, test, &x.arms[j])
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.Name, x.arms[j].name, err)
			}
			results[t.Name] = append(results[t.Name], r)
			x.Env.Say("%s: %s: %s", t.Name, x.arms[j].name, r.text(&results[t.Name][0]))
		}
	}
	return nil
}

// tune returns the result of an arm with its best step size. tune chooses the step size with the
// first seed: from the middle of the grid, it tries larger steps and then smaller ones, as long as
// the score grows.
func (x *trial) tune(t *task, train, test models.Differentiable,
	a *arm) (best result, err error) {
	try := func(i int) (r result, err error) {
		r = result{arm: a, step: x.steps[i], ends: i == 0 || i == len(x.steps)-1}
		return r, x.add(&r, t, train, test, 1)
	}
	middle := len(x.steps) / 2
	if best, err = try(middle); err != nil {
		return best, err
	}
	for _, by := range []int{1, -1} {
		for i := middle + by; i >= 0 && i < len(x.steps); i += by {
			r, err := try(i)
			if err != nil {
				return best, err
			}
			if r.score() <= best.score() {
				break
			}
			best = r
		}
	}
	for seed := 2; seed <= x.seeds && err == nil; seed++ {
		err = x.add(&best, t, train, test, uint64(seed))
	}
	return best, err
}

// add runs a seed.
func (x *trial) add(r *result, t *task, train, test models.Differentiable,
	seed uint64) error {
	points, err := x.points(t, train, test, r.arm, r.step, seed)
	if err != nil {
		return err
	}
	r.seeds = append(r.seeds, points)
	for _, p := range points {
		x.Report.Table.Add(t.Name, r.arm.name, r.step, seed, p.Rounds, p.Queries, p.Bytes, p.Samples,
			p.Loss, p.Accuracy)
	}
	return nil
}

// final returns the seeds' last accuracies.
func (r *result) final() (list []float64) {
	for _, points := range r.seeds {
		list = append(list, points[len(points)-1].Accuracy)
	}
	return list
}

// score returns what tune compares: the last accuracy with the first seed. A run that diverged has
// an accuracy by chance, so its score is below all accuracies, and higher for smaller steps.
func (r *result) score() float64 {
	last := r.seeds[0][len(r.seeds[0])-1]
	if !(last.Loss < divergedLoss) {
		return -r.step
	}
	return last.Accuracy
}

// divergedLoss is far above the loss of a model that says every class with certainty.
const divergedLoss = 1e6

// reach returns the share of the recipe's cost after which the arm's mean accuracy is at least
// the recipe's final mean accuracy. If the arm never reaches that accuracy, reach returns NaN.
func (r *result) reach(recipe *result) float64 {
	want := lab.Mean(recipe.final())
	whole := recipe.seeds[0][len(recipe.seeds[0])-1]
	at := r.first(want)
	if at < 0 {
		return math.NaN()
	}
	return r.arm.spent(r.seeds[0][at].Spent) / r.arm.spent(whole.Spent)
}

// wins reports whether the arm's final accuracy is above the recipe's for every seed, and whether
// the mean difference is larger than the spread of the recipe's seeds.
func (r *result) wins(recipe *result) bool {
	a, b := r.final(), recipe.final()
	for i := range a {
		if a[i] <= b[i] {
			return false
		}
	}
	return lab.Mean(a)-lab.Mean(b) > slices.Max(b)-slices.Min(b)
}

func (r *result) text(recipe *result) string {
	percent := func(v float64) string { return fmt.Sprintf("%.2f", 100*v) }
	a := r.final()
	text := fmt.Sprintf("%s [%s-%s] at %g", percent(lab.Mean(a)), percent(slices.Min(a)),
		percent(slices.Max(a)), r.step)
	if r.ends {
		text += "*"
	}
	if part := r.reach(recipe); !math.IsNaN(part) && r.arm != recipe.arm {
		text += fmt.Sprintf("; there at %.0f %%", 100*part)
	}
	if r.wins(recipe) {
		text = "**" + text + "**"
	}
	return text
}

// conclude adds the summary, and a claim for each idea that has results on all tasks.
func (x *trial) conclude(results map[string][]result) {
	x.Report.Summary.Columns = []string{"idea"}
	for _, t := range x.tasks {
		x.Report.Summary.Columns = append(x.Report.Summary.Columns, t.Name)
	}
	x.Report.Summary.Columns = append(x.Report.Summary.Columns, "costs besides")
	x.Report.Needs(uint64(x.rounds), uint64(x.whole), "rounds")
	for j := range x.arms {
		a := &x.arms[j]
		row, won := []string{a.title}, []string(nil)
		for _, t := range x.tasks {
			if list := results[t.Name]; j < len(list) {
				row = append(row, list[j].text(&list[0]))
				if list[j].wins(&list[0]) {
					won = append(won, t.Name)
				}
			}
		}
		if len(row) <= len(x.tasks) {
			return
		}
		x.Report.Summary.Rows = append(x.Report.Summary.Rows, append(row, a.costs))
		if j > 0 {
			x.Report.Claim(len(won) >= 2, a.title+" beats the recipe on two tasks", "on %d: %s",
				len(won), strings.Join(won, ", "))
		}
	}
}
