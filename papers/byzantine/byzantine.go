package byzantine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// Experiment returns the experiment in which some devices lie about their loss.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "byzantine",
		Title: "what 4 liars of 20 devices do to softmax on MNIST, by what bounds them",
		Paper: "none: the attacks are those of Karimireddy et al. (2021) and Xie et al. (2019)",
		Long:  "half a minute a run with --screen, of which there are 134",
		Takes: []string{"presets", "tasks", "rounds", "devices", "liars", "lies", "arm"},
		Do: func(t *lab.Trial) error {
			x, err := newTrial(t)
			if err != nil {
				return err
			}
			return x.all()
		},
	}
}

// A trial is a running experiment with its environment and its report.
type trial struct {
	*lab.Trial
	set     *lab.Set
	fleet   fleet
	presets []string
	splits  []lab.Split
	lies    []lie
	shields []shield
	rounds  uint64
	seeds   int // unless the environment says how many
}

// newShielded returns a trial of this many rounds; the caller adds splits and shields.
func newShielded(t *lab.Trial, title string, rounds uint64) (x *trial, err error) {
	t.Report.Figure = chart.Chart{Title: title, X: "round", Y: "test accuracy"}
	x = &trial{Trial: t, fleet: usual, rounds: t.Env.RoundsOr(rounds, 10), seeds: 1}
	x.set, err = t.Env.MNIST()
	return x, err
}

func newTrial(t *lab.Trial) (*trial, error) {
	e := t.Env
	f, err := fleetOf(e)
	if err != nil {
		return nil, err
	}
	x, err := newShielded(t, f.String(), 1000)
	if err != nil {
		return nil, err
	}
	x.fleet = f
	if x.presets, err = lab.Chosen("presets", e.Presets, methods); err != nil {
		return nil, err
	}
	if e.Presets == nil {
		x.presets = methods[:1]
	} else {
		x.set.Train, x.set.Test = x.set.Train.Shrink(2), x.set.Test.Shrink(2)
	}
	dealt, arms := []string{splits[0].Name, splits[2].Name}, e.Arms
	if arms == nil && e.Tasks == nil && e.Short {
		dealt, arms = dealt[:1], []string{"trust", "roots", "alone"}
	}
	x.splits, err = lab.Pick("tasks", splits, func(s lab.Split) string { return s.Name }, e.Tasks,
		dealt)
	if err != nil {
		return nil, err
	}
	nameOf := func(l lie) string { return l.name }
	x.lies, err = lab.Pick("lies", slices.Concat(lies, backdoors), nameOf, e.Lies,
		lab.Each(lies, nameOf))
	if err != nil {
		return nil, err
	}
	x.shields, err = pickShields(f, arms)
	return x, err
}

// all trains each shield against each lie, and makes a table of final accuracies.
func (x *trial) all() error {
	x.Report.Summary.Columns = []string{"split", "bounded by"}
	for _, l := range x.lies {
		x.Report.Summary.Columns = append(x.Report.Summary.Columns, l.name)
	}
	for _, method := range x.presets {
		for _, sp := range x.splits {
			accuracy := map[string]float64{}
			for _, s := range x.shields {
				row, err := x.against(method, sp, s, accuracy)
				if err != nil {
					return err
				}
				x.Report.Summary.Rows = append(x.Report.Summary.Rows, row)
			}
			x.claims(method, sp, accuracy)
		}
	}
	return nil
}

// against trains a shield against each lie. against returns the row of the table, and notes the
// accuracies.
func (x *trial) against(method string, sp lab.Split, s shield, accuracy map[string]float64) (
	row []string, err error) {
	row = []string{x.label(method, sp), s.title(x.fleet)}
	for _, l := range x.lies {
		text := ""
		if l.lie == nil || s.name != "alone" {
			results, err := x.train(method, sp, s, l)
			x.Report.AddRows(results)
			if err != nil {
				return row, err
			}
			values := x.final(results)
			text, accuracy[s.name+l.name] = lab.Spread(values), lab.Mean(values)
			if l.mark {
				text += ", " + lab.Spread(results.At(Success, x.rounds))
			}
		}
		row = append(row, text)
	}
	return row, nil
}

// final returns the accuracy after the last round for every seed, and 0 for a seed whose run paused
// before.
func (x *trial) final(results lab.Results) []float64 {
	return lab.Each(results, func(r *run.Result) float64 {
		v := r.Curve.At(run.Accuracy, x.rounds)
		if math.IsNaN(v) {
			return contest.Worst(run.Accuracy)
		}
		return v
	})
}

// needs says that the claims that follow need as many rounds as after which a fleet with liars and
// one without have most of their accuracy.
func (x *trial) needs() { x.Report.Needs(x.rounds, 200, "rounds") }

// label says which fleet a row of the table is about.
func (x *trial) label(method string, sp lab.Split) string {
	if method == methods[0] {
		return sp.Title
	}
	return method + ", " + sp.Title
}

// claims compares the recommended shield with the run without liars and bounds. If the experiment
// did not run that, claims compares with the run of the honest devices alone. Then claims compares
// the default with the run of the honest devices alone.
func (x *trial) claims(method string, sp lab.Split, accuracy map[string]float64) {
	best, known := accuracy["alone"+lies[0].name]
	if known {
		x.claim(method, sp, "default", best, 0.03, accuracy)
	}
	if mean, also := accuracy["mean"+lies[0].name]; also {
		best, known = max(best, mean), true
	}
	if known {
		x.claim(method, sp, recommended, best, 0.02, accuracy)
	}
}

// claim compares the runs with a shield with what honest devices reach.
func (x *trial) claim(method string, sp lab.Split, shield string, best, most float64,
	accuracy map[string]float64) {
	worst, text := math.Inf(-1), []string{}
	for _, l := range x.lies {
		got, ran := accuracy[shield+l.name]
		if !ran {
			return
		}
		worst = max(worst, best-got)
		text = append(text, fmt.Sprintf("%s %.4f", l.name, got))
	}
	x.needs()
	x.Report.Claim(worst <= most, fmt.Sprintf("%s: no lie of %d of %d devices costs more than %v "+
		"of what honest devices reach", x.label(method, sp), x.fleet.liars, x.fleet.devices, most),
		"honest %.4f; %s: %s", best, shield, strings.Join(text, ", "))
}

// train runs a shield against a lie.
func (x *trial) train(method string, sp lab.Split, s shield, l lie) (lab.Results, error) {
	task, segments := x.set.Task(false)
	labels, f := x.set.Train.Labels, x.fleet
	t := &lab.Training{
		Name: fmt.Sprintf("%s-%s-%s", sp.Name, s.name, l.name), Run: "byzantine", Preset: method,
		Clients: f.devices, Asked: f.devices, Rounds: x.rounds, Order: run.Draws,
		Task: task, Every: max(x.rounds/10, 1),
		Shares: func(seed uint64) ([][]int, error) { return sp.Deal(labels, f.devices, seed) },
		Set: func(p *plan.Plan) {
			p.Segments = segments
			if method == methods[0] {
				p.Batch, p.Perturbations, p.StepSize, p.Diverge = 32, 10, 0.03, 0
				p.Distribution, p.StepDecay, p.Floor = plan.Rademacher, plan.Cosine, 0.05
			}
			if err := s.set(p); err != nil {
				panic("paper: internal error: " + err.Error())
			}
		},
	}
	if method != methods[0] || f != usual {
		t.Name = fmt.Sprintf("%s-%d-%d-%s", method, f.liars, f.devices, t.Name)
	}
	if s.name == "alone" {
		all := t.Shares
		t.Clients, t.Asked = f.honest(), f.honest()
		t.Shares = func(seed uint64) ([][]int, error) {
			shares, err := all(seed)
			return shares[min(f.liars, len(shares)):], err
		}
	}
	if s.rooted() {
		t.Clients, t.Asked, t.Shares = t.Clients+1, t.Asked+1, withRoot(t.Shares)
	}
	var results lab.Results
	for seed := uint64(1); seed <= uint64(x.Env.SeedsOr(x.seeds)); seed++ {
		shares, err := t.Shares(seed)
		if err != nil {
			return results, err
		}
		one := *t
		switch {
		case l.mark:
			one.Task = l.task(measured(task, x.set), backdoored(x.set), shares, f.liars, len(labels))
		case l.lie != nil:
			one.Task = l.task(task, x.relabeled(), shares, f.liars, len(labels))
		}
		if s.mixing.mix != nil {
			one.Mix = func(all [][]float32) { s.mixing.mix(all, f.liars) }
		}
		if s.rooted() {
			one.Task = wholly(one.Task, shares[f.devices])
		}
		r, err := x.Env.TrainOne(x.Ctx, x.Report.ID, &one, seed)
		if r != nil {
			results = append(results, r)
		}
		if err != nil {
			return results, err
		}
	}
	return results, nil
}
