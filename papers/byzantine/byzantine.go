package byzantine

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// Experiment returns the experiment in which a fifth of the devices lie about their loss.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "byzantine",
		Title: "what 4 liars of 20 devices do to softmax on MNIST, by what bounds them",
		Paper: "none: the attacks are those of Karimireddy et al. (2021) and Xie et al. (2019)",
		Long:  "half a minute a run with --screen, of which there are 134",
		Takes: []string{"tasks", "rounds", "arm"},
		Do: func(t *lab.Trial) error {
			x, err := newTrial(t)
			if err != nil {
				return err
			}
			return x.all()
		},
	}
}

const (
	clients = 20
	liars   = 4
)

// A shield is a protection against liars: settings of a plan, and a root device if these settings
// name one.
type shield struct{ name, settings string }

// root is the id of the root device, whose slot follows the clients' slots.
const root = "c20"

// rootSamples is the number of samples of the root device. The root device computes its loss over
// all its samples at each point.
const rootSamples = 300

func (s shield) rooted() bool { return strings.Contains(s.settings, "roots=") }

// shields are the protections that the experiment compares. Where devices may lie,
// docs/security.md recommends "roots". If there is no root and the data of the devices are alike,
// docs/security.md recommends "trust".
var shields = []shield{
	{"mean", ""},
	{"bound8", "bound=8"},
	{"bound", "bound=1.5"},
	{"median", "aggregator=median"},
	{"trust", "bound=1.5 trust=100"},
	{"roots", `bound=1.5 trust=200 roots=["` + root + `"]`},
	{"alone", ""}, // the 16 honest devices
}

// recommended is the shield that has to stop every lie.
const recommended = "roots"

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	set     *lab.Set
	splits  []lab.Split
	shields []shield
	rounds  uint64
	seeds   int // unless the environment says how many
}

// newShielded returns a trial of this many rounds; the caller adds splits and shields.
func newShielded(t *lab.Trial, title string, rounds uint64) (x *trial, err error) {
	t.Report.Figure = chart.Chart{Title: title, X: "round", Y: "test accuracy"}
	x = &trial{Trial: t, rounds: t.Env.RoundsOr(rounds, 10), seeds: 1}
	x.set, err = t.Env.MNIST()
	return x, err
}

func newTrial(t *lab.Trial) (*trial, error) {
	e := t.Env
	x, err := newShielded(t, "20 devices, of which 4 lie", 1000)
	if err != nil {
		return nil, err
	}
	var tasks, arms []string
	if e.Tasks == nil && e.Arms == nil {
		tasks, arms = e.Few(lab.Splits[0].Name), e.Few("trust", "roots", "alone")
	}
	x.splits, err = lab.Pick("tasks", lab.Splits[:2], func(s lab.Split) string { return s.Name },
		e.Tasks, tasks)
	if err == nil {
		x.shields, err = lab.Pick("arm", shields, func(s shield) string { return s.name }, e.Arms, arms)
	}
	return x, err
}

// all trains each shield against each lie, and makes a table of final accuracies.
func (x *trial) all() error {
	x.Report.Summary.Columns = []string{"split", "bounded by"}
	for _, l := range lies {
		x.Report.Summary.Columns = append(x.Report.Summary.Columns, l.name)
	}
	for _, sp := range x.splits {
		accuracy := map[string]float64{}
		for _, s := range x.shields {
			row := []string{sp.Title, s.title()}
			for _, l := range lies {
				text := ""
				if l.lie == nil || s.name != "alone" {
					results, err := x.train(sp, s, l)
					x.Report.AddRows(results)
					if err != nil {
						return err
					}
					values := results.At(run.Accuracy, x.rounds)
					text, accuracy[s.name+l.name] = lab.Spread(values), lab.Mean(values)
				}
				row = append(row, text)
			}
			x.Report.Summary.Rows = append(x.Report.Summary.Rows, row)
		}
		x.claims(sp, accuracy)
	}
	return nil
}

func (s shield) title() string {
	switch {
	case s.name == "alone":
		return "no liars: the 16 honest devices"
	case s.settings == "":
		return "nothing"
	}
	return s.settings
}

// claims compares the recommended shield with the run without liars and bounds. If the experiment
// did not run that, claims compares with the run of the honest devices alone.
func (x *trial) claims(sp lab.Split, accuracy map[string]float64) {
	best, known := accuracy["alone"+lies[0].name]
	if mean, also := accuracy["mean"+lies[0].name]; also {
		best, known = max(best, mean), true
	}
	if _, also := accuracy[recommended+lies[0].name]; !known || !also {
		return
	}
	worst, text := 0.0, []string{}
	for _, l := range lies {
		got := accuracy[recommended+l.name]
		worst = max(worst, best-got)
		text = append(text, fmt.Sprintf("%s %.4f", l.name, got))
	}
	x.Report.Claim(worst <= 0.02, fmt.Sprintf("%s: no lie of 4 of 20 devices costs more than 0.02 "+
		"of what honest devices reach", sp.Title), "honest %.4f; %s: %s", best,
		recommended, strings.Join(text, ", "))
}

// train runs a shield against a lie.
func (x *trial) train(sp lab.Split, s shield, l lie) (lab.Results, error) {
	task, segments := x.set.Task(false)
	labels := x.set.Train.Labels
	t := &lab.Training{
		Name: fmt.Sprintf("%s-%s-%s", sp.Name, s.name, l.name), Run: "byzantine", Preset: "decomfl",
		Clients: clients, Asked: clients, Rounds: x.rounds, Order: run.Draws,
		Task: task, Every: max(x.rounds/10, 1),
		Shares: func(seed uint64) ([][]int, error) { return sp.Deal(labels, clients, seed) },
		Set: func(p *plan.Plan) {
			p.Segments, p.Batch, p.Perturbations, p.StepSize, p.Diverge = segments, 32, 10, 0.03, 0
			p.Distribution, p.StepDecay, p.Floor = plan.Rademacher, plan.Cosine, 0.05
			if _, err := planfile.SetAll(p, strings.Fields(s.settings)); err != nil {
				panic("paper: internal error: " + err.Error())
			}
		},
	}
	if s.name == "alone" {
		all := t.Shares
		t.Clients, t.Asked = clients-liars, clients-liars
		t.Shares = func(seed uint64) ([][]int, error) {
			shares, err := all(seed)
			return shares[min(liars, len(shares)):], err
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
		if l.lie != nil {
			one.Task = l.task(task, x.relabeled(), shares, len(labels))
		}
		if s.rooted() {
			one.Task = wholly(one.Task, shares[clients])
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
