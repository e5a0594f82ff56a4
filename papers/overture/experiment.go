package overture

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/planfile"
)

// An arm is a preset with fields.
type arm struct {
	name, preset string
	set          []string
}

var allArms = []arm{
	{"zofl", "zofl", nil},
	{"long", "zofl", []string{"step_after=0", "perturbations=10", "server_beta1=0.9"}},
	{"zofl-shared", "zofl-shared", nil},
	{"long-shared", "zofl-shared",
		[]string{"step_after=0", "perturbations=10", "server_beta1=0.9"}},
}

// A fleet says how many devices a run has, and whether their losses differ.
type fleet struct {
	name    string
	devices int
	unlike  bool
}

var fleets = []fleet{{"1", 1, false}, {"4", 4, false}, {"10", 10, false}, {"10 unlike", 10, true}}

// budgets are the evaluations of a device in a run, by the number of parameters.
var budgets = []struct {
	dim     int
	queries uint64
}{{2, 400}, {6, 1000}, {20, 3000}, {50, 5000}, {100, 10_000}}

// shares of the first gap to the least loss, up to which the experiment counts evaluations.
var shares = []float64{0.1, 0.01}

// Experiment runs each loss with each number of parameters and devices.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "overture",
		Title: "evaluations of runs of few parameters, beside the overture of many",
		Paper: "none: what a run spends before it moves",
		Long:  "a quarter of an hour",
		Takes: []string{"tasks", "arm"},
		Do: func(t *lab.Trial) error {
			e := t.Env
			losses, err := lab.Pick("tasks", allLosses, func(l loss) string { return l.name }, e.Tasks,
				e.Few("ell3"))
			if err != nil {
				return err
			}
			x := &trial{Trial: t, seeds: e.SeedsOr(5)}
			if x.arms, err = armsOf(e.Arms); err != nil {
				return err
			}
			return x.all(losses)
		},
	}
}

// armsOf returns the arms of --arm: names, or "NAME PRESET FIELD=VALUE ...".
func armsOf(asked []string) (list []arm, err error) {
	if len(asked) == 0 {
		return allArms[:2], nil
	}
	for _, text := range asked {
		words := strings.Fields(text)
		at := slices.IndexFunc(allArms, func(a arm) bool { return a.name == text })
		switch {
		case at >= 0:
			list = append(list, allArms[at])
		case len(words) > 1:
			list = append(list, arm{words[0], words[1], words[2:]})
		default:
			return nil, fmt.Errorf("--arm %s: give zofl, long, zofl-shared, long-shared, or "+
				"\"NAME PRESET FIELD=VALUE ...\"", text)
		}
	}
	return list, nil
}

type trial struct {
	*lab.Trial
	arms  []arm
	seeds int
}

// all runs one loss after another. After an error the report has what was run so far.
func (x *trial) all(losses []loss) error {
	x.Report.Table.Columns = []string{"loss", "parameters", "devices", "arm", "seed", "to 0.1",
		"to 0.01", "evaluations", "left"}
	x.Report.Summary.Columns = []string{"loss", "parameters, evaluations", "devices"}
	for _, a := range x.arms {
		x.Report.Summary.Columns = append(x.Report.Summary.Columns, a.name)
	}
	for _, l := range losses {
		for _, b := range budgets {
			if x.Env.Short && b.dim > 6 {
				continue
			}
			for _, f := range fleets {
				if f.unlike && l.name != "ell3" {
					continue
				}
				if err := x.row(&l, b.dim, b.queries, f); err != nil {
					return fmt.Errorf("%s of %d parameters: %w", l.name, b.dim, err)
				}
			}
		}
	}
	return nil
}

// row runs each arm with all seeds, and adds a row of medians.
func (x *trial) row(l *loss, dim int, queries uint64, f fleet) error {
	cells := []any{l.name, fmt.Sprintf("%d, %d", dim, queries), f.name}
	for _, a := range x.arms {
		var counts [2][]float64
		var left []float64
		for seed := range uint64(x.seeds) {
			r, err := x.once(l, dim, queries, f, a, seed+1)
			if err != nil {
				return err
			}
			x.Report.Table.Add(l.name, dim, f.name, a.name, seed+1, r.to[0], r.to[1], queries, r.left)
			left = append(left, r.left)
			for i := range counts {
				counts[i] = append(counts[i], r.to[i])
			}
		}
		cells = append(cells, fmt.Sprintf("%s/%s, %.1e", text(median(counts[0])),
			text(median(counts[1])), median(left)))
	}
	x.Report.Summary.Add(cells...)
	x.Env.Say("%s", fmt.Sprint(cells...))
	return nil
}

func text(v float64) string {
	if math.IsInf(v, 1) {
		return "–"
	}
	return fmt.Sprintf("%.0f", v)
}

// A result has the evaluations of a device until each share of the gap was left, infinite if never,
// and the share that was left in the end.
type result struct {
	to   [2]float64
	left float64
}

// once trains one run.
func (x *trial) once(l *loss, dim int, queries uint64, f fleet, a arm, seed uint64) (*result,
	error) {
	p, err := run.Plan(a.preset, fmt.Sprintf("overture-%s", l.name), seed, dim, f.devices, f.devices)
	if err != nil {
		return nil, err
	}
	if _, err := planfile.SetAll(p, a.set); err != nil {
		return nil, err
	}
	p.Rounds = (queries - cost.Surveys(p)) / p.PhaseQueries(0, p.Perturbations)
	problem := l.of(dim, f, seed)
	shares := make([][]int, f.devices)
	for i := range shares {
		shares[i] = []int{i} // a sample names its device
	}
	r, err := run.Train(x.Ctx, run.Config{Name: l.name, Seed: seed, Task: problem, Plan: p,
		Shares: shares, Measure: func(uint64) bool { return true }})
	if err != nil {
		return nil, err
	}
	return counted(r.Curve, f.devices), nil
}

// counted returns the result of a curve of the shares that were left.
func counted(c *run.Curve, devices int) *result {
	out := &result{to: [2]float64{math.Inf(1), math.Inf(1)}, left: 1}
	for _, p := range c.Points {
		if p.Values == nil {
			continue
		}
		out.left = p.Values[0]
		for i, share := range shares {
			if out.left <= share && math.IsInf(out.to[i], 1) {
				out.to[i] = float64(p.Queries) / float64(devices)
			}
		}
	}
	return out
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	if math.IsInf(v[len(v)/2], 1) {
		return v[len(v)/2]
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
