package decomfl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// grid makes figure 2 of DeComFL: the CNN at every K and P. grid trains the cheapest settings
// first, so that a stopped experiment has results for as many settings as possible.
func grid() lab.Experiment {
	return lab.Experiment{
		ID:    "decomfl-grid",
		Title: "DeComFL's CNN at K of 1, 4, 10 and P of 10, 20, 40: accuracy after equal rounds",
		Paper: "DeComFL, figure 2",
		Long: "some 200 hours a seed for 1,000 rounds, 20 with --screen; --rounds and --tasks, " +
			"such as k4-p20, choose",
		Takes: []string{"rounds", "tasks"},
		Do: func(t *lab.Trial) error {
			cells, err := gridCells(t.Env)
			if err != nil {
				return err
			}
			return onMNIST(func(x *trial) error { return x.grid(cells) })(t)
		},
	}
}

// gridCells returns the settings that an environment asks for, cheapest first.
func gridCells(e *lab.Env) ([]setting, error) {
	var cells []setting
	for _, k := range []uint32{1, 4, 10} {
		for _, p := range []uint32{10, 20, 40} {
			d := variantSetting(k, p)
			d.rounds = cmp.Or(e.Rounds, d.rounds)
			if e.Short {
				d.batch, d.rounds, d.measure = 8, 2, 1
			}
			cells = append(cells, d)
		}
	}
	slices.SortStableFunc(cells, func(a, b setting) int {
		return cmp.Compare(a.k*a.p, b.k*b.p)
	})
	return lab.Pick("tasks", cells, func(d setting) string { return cellName(&d) }, e.Tasks, nil)
}

func cellName(d *setting) string { return fmt.Sprintf("k%d-p%d", d.k, d.p) }

// grid trains the cells. For each cell, grid adds the claim that the training reaches the
// published curve. For each row and column, grid adds the claim that more local steps or
// perturbations give a higher accuracy. grid compares the cells of a claim after the last round
// at which all of them have a measurement.
func (x *trial) grid(cells []setting) error {
	at := func(k, p uint32) *setting {
		i := slices.IndexFunc(cells, func(d setting) bool { return d.k == k && d.p == p })
		if i < 0 {
			return nil
		}
		return &cells[i]
	}
	for _, d := range cells {
		results, err := x.train(d, x.Env.SeedsOr(1))
		if err != nil {
			return err
		}
		if !x.Env.Short {
			x.within(&d, results, publishedCNN[[2]uint32{d.k, d.p}], "published")
		}
	}
	for _, v := range []uint32{1, 4, 10} {
		x.moreHelps(fmt.Sprintf("K=%d: more perturbations help", v), at(v, 10), at(v, 40))
	}
	for _, v := range []uint32{10, 20, 40} {
		x.moreHelps(fmt.Sprintf("P=%d: more local steps help", v), at(1, v), at(10, v))
	}
	return nil
}

// gridRounds are the rounds after which the published curves of the cells can be told apart.
const gridRounds = 40

// moreHelps adds the claim that a setting has a higher final accuracy than a setting with fewer
// perturbations or local steps.
func (x *trial) moreHelps(claim string, less, more *setting) {
	if less == nil || more == nil {
		return
	}
	x.Report.Needs(more.rounds, gridRounds, "rounds")
	before, after := x.curves[less.name].At(run.Accuracy, less.rounds),
		x.curves[more.name].At(run.Accuracy, more.rounds)
	x.Report.Claim(len(before) > 0 && len(after) > 0 && lab.Mean(after) > lab.Mean(before),
		"CNN, batch 256, "+claim, "test accuracy after round %d: %s against %s",
		more.rounds, lab.Spread(after), lab.Spread(before))
}
