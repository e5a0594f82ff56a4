package further

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/zofl/zofl/papers/ideas"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/prng"
)

// Many asks among how many groups the contributors of a round should share directions. More groups
// leave less noise, and cost every device more bytes and a longer replay.
func Many() lab.Experiment {
	return lab.Experiment{
		ID:    "many",
		Title: "10 to 10,000 contributors in few or many groups, in a screening simulation",
		Paper: "none: the baseline is directions of each device's own",
		Long:  "half an hour on a core",
		Takes: []string{"tasks", "rounds", "devices", "arm"},
		Do: func(t *lab.Trial) error {
			err := eachFleet(t)
			if !t.Env.Screen {
				t.Report.MarkScreened()
			}
			return err
		},
	}
}

// fleets lists numbers of contributors and, for each, numbers of groups. As many groups as
// contributors are directions of each device's own.
var fleets = []struct {
	contributors int
	groups       []int
}{
	{10, []int{1, 5, 10}},
	{100, []int{1, 5, 10, 20, 50, 100}},
	{1000, []int{1, 5, 10, 20, 50, 100, 1000}},
	{10_000, []int{1, 5, 10, 20, 50, 100, 1000}},
}

const (
	// manyRows is how many images a fleet has together. Each of 10,000 devices then has one.
	manyRows = 10_000
	// reached is the accuracy whose price the summary has.
	reached = 0.8
)

// manyStudy returns the study of a number of contributors, all devices of a fleet.
func manyStudy(contributors int, groups []int) study {
	s := study{usual: 1, fleet: fleet{contributors, contributors},
		steps: []float64{0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12}}
	for _, t := range imageTasks()[:2] {
		t.Train, t.Test = manyRows, 5000
		s.tasks = append(s.tasks, t)
	}
	for _, n := range groups {
		a := arm{name: fmt.Sprintf("%d-in-%d", contributors, n)}
		if a.Finish.Fall = ideas.Auto; n < contributors {
			a.Groups = n
		}
		s.arms = append(s.arms, a)
	}
	return s
}

// eachFleet runs the study of every number of contributors.
func eachFleet(t *lab.Trial) error {
	t.Report.Table.Columns = trained
	t.Report.Summary.Columns = []string{"task", "contributors in groups", "accuracy",
		fmt.Sprintf("rounds to %g", reached), "bytes of a device to there",
		"ms of its replay to there", "ms of replay a round"}
	for _, f := range fleets {
		if n := t.Env.Devices; n > 0 && n != f.contributors || t.Env.Short && f.contributors > 100 {
			continue
		}
		x, err := newTrial(t, manyStudy(f.contributors, f.groups))
		if err == nil {
			x.rounds = int(t.Env.RoundsOr(100, 20))
			err = x.fleetOf()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fleetOf adds a row for each task and number of groups.
func (x *trial) fleetOf() error {
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
			row := x.priced(t, train, &r)
			x.Report.Summary.Rows = append(x.Report.Summary.Rows, row)
			x.Env.Say("%v", row)
		}
	}
	return nil
}

// priced returns the row of a result: its accuracy, and what a device spends until the seeds' mean
// accuracy is reached.
func (x *trial) priced(t *task, train models.Differentiable, r *result) []string {
	replay := replayTime(cmp.Or(r.arm.Groups, x.fleet.asked)*usualPerturbations, train.Dim())
	ms := func(v time.Duration) string { return fmt.Sprintf("%.3g", v.Seconds()*1000) }
	row := []string{t.Name, r.arm.name, r.text(r)}
	at := r.first(reached)
	if at < 0 {
		return append(row, "", "", "", ms(replay))
	}
	p, bytes := r.seeds[0][at], "no plan"
	if p.Bytes > 0 {
		bytes = fmt.Sprintf("%.0f", p.Bytes)
	}
	return append(row, fmt.Sprint(p.Rounds), bytes, ms(time.Duration(p.Rounds)*replay), ms(replay))
}

// usualPerturbations is P of the recipe.
const usualPerturbations = 10

// first returns the first measurement at which the seeds' mean accuracy is at least want, or -1.
func (r *result) first(want float64) int {
	for i := range r.seeds[0] {
		if r.meanAt(i) >= want {
			return i
		}
	}
	return -1
}

// meanAt returns the mean accuracy of the seeds at a measurement.
func (r *result) meanAt(i int) float64 {
	sum := 0.0
	for _, points := range r.seeds {
		sum += points[min(i, len(points)-1)].Accuracy
	}
	return sum / float64(len(r.seeds))
}

// replayTime returns the least of some times in which this core adds directions to a vector.
func replayTime(directions, dim int) time.Duration {
	terms, x := make([]prng.Term, directions), make([]float32, dim)
	for i := range terms {
		terms[i] = prng.Term{A: 1e-3, Z: prng.Direction{Key: 1, Source: prng.Slot(uint32(i)),
			Dist: prng.Rademacher}}
	}
	least := time.Duration(math.MaxInt64)
	for range 5 {
		began := time.Now()
		prng.Sum(x, terms, 0)
		least = min(least, time.Since(began))
	}
	return least
}
