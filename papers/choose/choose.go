package choose

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// Experiment compares presets at equal evaluations.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "choose",
		Title: "which preset ends lowest, by parameters, noise and devices, at equal evaluations",
		Paper: "none: the rule of zofl plan", Long: "half an hour on a core",
		Takes: []string{"presets", "tasks"},
		Do:    func(t *lab.Trial) error { return (&trial{Trial: t}).all() },
	}
}

// A task is a row of the table.
type task struct {
	dim, devices int
	unlike       bool
	noise        bool
}

func (t task) String() string {
	text := fmt.Sprintf("%d-%d", t.dim, t.devices)
	if t.unlike {
		text += "-unlike"
	}
	if t.noise {
		text += "-noise"
	}
	return text
}

// evaluations are those of a device.
func (t task) evaluations() uint64 {
	return map[int]uint64{2: 400, 6: 1000, 20: 3000, 100: 10_000}[t.dim]
}

func (t task) problem(seed uint64) *problem {
	if t.noise {
		return newProblem(t.dim, t.devices, t.unlike, 10, 0.01, seed)
	}
	return newProblem(t.dim, t.devices, t.unlike, 1000, 0, seed)
}

func tasks() (list []task) {
	for _, dim := range []int{2, 6, 20, 100} {
		for _, noise := range []bool{false, true} {
			list = append(list, task{dim, 1, false, noise}, task{dim, 10, false, noise},
				task{dim, 10, true, noise})
		}
	}
	return list
}

// most is the largest number of parameters with which a preset is tried. The surrogate of fzoos
// takes minutes a run already with 20.
var most = map[string]int{"fzoos": 20}

var presets = []string{"zofl", "fzoos", "cma"}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	names []string
	ends  map[string][]float64 // shares of the gap that are left, by preset, in the order of tasks
}

func (x *trial) all() error {
	own := func(name string) string { return name }
	var err error
	if x.names, err = lab.Pick("presets", presets, own, x.Env.Presets, nil); err != nil {
		return err
	}
	list, err := lab.Pick("tasks", tasks(), task.String, x.Env.Tasks,
		x.Env.Few("2-1", "2-1-noise", "6-1", "6-1-noise", "6-10-unlike", "20-1", "20-1-noise"))
	if err != nil {
		return err
	}
	x.ends = map[string][]float64{}
	x.Report.Summary.Columns = append([]string{"parameters", "evaluations of a device", "devices",
		"noise"}, x.names...)
	for _, t := range list {
		row := []any{t.dim, t.evaluations(), devicesText(t), noiseText(t)}
		for _, name := range x.names {
			end, err := x.median(t, name)
			if err != nil {
				return fmt.Errorf("%s %v: %w", name, t, err)
			}
			x.ends[name] = append(x.ends[name], end)
			row = append(row, share(end))
		}
		x.Report.Summary.Add(row...)
		x.Env.Say("%v: %v", t, row[4:])
	}
	x.Report.Table = x.Report.Summary
	x.claims(list)
	return nil
}

func devicesText(t task) string {
	switch {
	case t.devices == 1:
		return "one"
	case t.unlike:
		return fmt.Sprintf("%d unlike", t.devices)
	}
	return fmt.Sprintf("%d alike", t.devices)
}

func noiseText(t task) string {
	if t.noise {
		return "1 %"
	}
	return "none"
}

// share writes a share of the gap; NaN is a run that was not made.
func share(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf("%.0e", v)
}

// median returns the median over the seeds of the share of the gap that is left.
func (x *trial) median(t task, name string) (float64, error) {
	if limit, ok := most[name]; ok && t.dim > limit {
		return math.NaN(), nil
	}
	var list []float64
	for seed := range uint64(x.Env.SeedsOr(3)) {
		end, err := lead(x.Ctx, t, name, seed+1)
		if err != nil {
			return 0, err
		}
		list = append(list, end)
	}
	slices.Sort(list)
	return list[len(list)/2], nil
}

// lead runs a preset on a task, and returns the share of the gap that is left.
func lead(ctx context.Context, t task, name string, seed uint64) (float64, error) {
	problem := t.problem(seed)
	p, err := newPlan(t, name, seed)
	if err != nil {
		return 0, err
	}
	r, err := fleet.Run(ctx, p, problem.devices(seed), fleet.Options{})
	if r == nil || err != nil && !errors.Is(err, fleet.ErrDiverged) &&
		!errors.Is(err, fleet.ErrPaused) {
		return 0, err
	}
	return problem.above(r.Params) / problem.above(make([]float32, t.dim)), nil
}

// newPlan returns the plan that zofl plan makes with --preset, --evaluations and, where there is
// noise, --noise.
func newPlan(t task, name string, seed uint64) (*plan.Plan, error) {
	p, err := preset.Unbound(name, "choose", uint64(t.dim))
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(fmt.Appendf(nil, "choose %v %d", t, seed))
	p.RunKey, p.Members = key[:], uint32(t.devices)
	settings := []string{fmt.Sprint("members=", t.devices), "batch=0"}
	if name == "fzoos" {
		settings = append(settings, `boxes=[{"low":-4,"high":4}]`, "features=1000")
	}
	set, err := planfile.SetAll(p, settings)
	if err != nil {
		return nil, err
	}
	preset.Few(p, set...)
	k := preset.Known{Evaluations: t.evaluations(), Noise: t.noise, Unlike: t.unlike}
	if err := preset.Suit(p, k, set...); err != nil {
		return nil, err
	}
	preset.Guard(p, set...)
	return p, nil
}
