package eavesdrop

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// Experiment returns the experiment that attacks the messages of devices.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "leak",
		Title: "which labels 20 devices have, by the scalars they send, and by what hides them",
		Paper: "none: what Zofl shows of its devices, and what its differential privacy costs",
		Long:  "half a minute a run, of which there are 67; those of 1,000 devices take longer",
		Takes: []string{"rounds", "arm"},
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
	labelCount = 10
	first      = 40 // rounds after which the attack is also made
)

// usualRounds are the rounds of a run.
const usualRounds = 200

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	set    *lab.Set
	arms   []arm
	rounds uint64
	size   func(arm) int // devices of an arm
}

func newTrial(t *lab.Trial) (x *trial, err error) {
	e := t.Env
	x = &trial{Trial: t, rounds: e.RoundsOr(usualRounds, 20)}
	t.Report.Figure = chart.Chart{Title: "what hides devices, and what it costs", X: "round",
		Y: "test accuracy"}
	if x.set, err = e.MNIST(); err != nil {
		return nil, err
	}
	x.size = func(a arm) int { return a.devices }
	if e.Short {
		x.size = func(arm) int { return 20 }
	}
	x.arms, err = lab.Pick("arm", arms, func(a arm) string { return a.name }, e.Arms,
		e.Few("own", "shared", "device-2"))
	return x, err
}

// all trains and attacks each arm.
func (x *trial) all() error {
	x.Report.Summary.Columns = []string{"run", "seen", fmt.Sprintf("correlation, %d rounds",
		first), "all rounds", "L1 error", "alike, by labels", "by scalars", "by losses", "accuracy"}
	x.Report.Table.Columns = append([]string{"arm", "seed"}, x.Report.Summary.Columns[1:]...)
	found := map[string][]score{}
	for _, a := range x.arms {
		var scores []score
		for seed := uint64(1); seed <= uint64(x.Env.SeedsOr(a.seeds)); seed++ {
			s, err := x.score(a, seed)
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", a.name, seed, err)
			}
			scores = append(scores, *s)
			x.tell(a, seed, s)
		}
		found[a.name] = scores
		for i := range a.views {
			cells := []string{a.title, a.views[i].title}
			for k := range scores[0].Views[i].cells() {
				cells = append(cells, cell(scores, func(s *score) float64 {
					return s.Views[i].cells()[k]
				}))
			}
			x.Report.Summary.Rows = append(x.Report.Summary.Rows, append(cells,
				cell(scores, func(s *score) float64 { return s.Accuracy })))
		}
	}
	x.claims(found)
	return nil
}

// cell formats the mean of a value over the seeds, or returns "" if the question makes no sense
// for the arm.
func cell(scores []score, value func(*score) float64) string {
	sum := 0.0
	for i := range scores {
		sum += value(&scores[i]) / float64(len(scores))
	}
	if sum == untold {
		return ""
	}
	return fmt.Sprintf("%.3f", sum)
}

func (x *trial) tell(a arm, seed uint64, s *score) {
	for i, v := range s.Views {
		row := []any{a.name, seed, a.views[i].title}
		for _, cell := range append(v.cells(), s.Accuracy) {
			row = append(row, cell)
		}
		x.Report.Table.Add(row...)
		told := ""
		if v.All != untold {
			told = fmt.Sprintf("correlation %.3f, ", v.All)
		}
		x.Env.Say("%s seed %d, %s: %saccuracy %.4f", a.name, seed, a.views[i].title, told,
			s.Accuracy)
	}
}

// plan returns the plan of an arm, and the secret of a private one.
func (x *trial) plan(a arm, seed uint64, task run.Task) (*plan.Plan, []byte, error) {
	devices := x.size(a)
	p, err := run.Plan(cmp.Or(a.preset, "decomfl"), "leak-"+a.name, seed, task.Dim, devices,
		devices/max(a.part, 1))
	if err != nil {
		return nil, nil, err
	}
	p.Rounds = x.rounds
	if a.preset == "" {
		p.Batch, p.Perturbations, p.Diverge, p.MaxScalar = 32, 10, 0, 65504
		p.Distribution, p.StepDecay, p.Floor = plan.Rademacher, plan.Cosine, 0.05
	}
	if _, err := planfile.SetAll(p, strings.Fields(a.settings)); err != nil {
		return nil, nil, err
	}
	if a.preset != "" {
		preset.Guard(p)
	}
	if a.epsilon > 0 {
		p.DPNoise = dp.NoiseFor(p, a.epsilon)
	}
	if !a.secret {
		return p, nil, nil
	}
	secret := p.RunKey
	p.RunKey = nil
	p.SetSecret(secret)
	return p, secret, nil
}

// deal deals the samples.
func (x *trial) deal(a arm, seed uint64) ([][]int, error) {
	devices := x.size(a)
	if devices > 100 { // too few samples of a label for a device to have most of them
		return data.IID(len(x.set.Train.Labels), devices, seed)
	}
	alpha := 0.3
	if a.alike {
		alpha = 3
	}
	return data.Dirichlet(x.set.Train.Labels, devices, alpha, seed)
}
