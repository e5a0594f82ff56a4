package cma

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zofl/zofl/papers/lab"
)

// Experiment measures the preset cma.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "cma",
		Title: "the preset cma: evaluations on losses that optimizers are compared on, fleets, noise",
		Paper: "none: MA-ES and CMA-ES are compared so, and pycma beside them",
		Long:  "half a minute",
		Do:    func(t *lab.Trial) error { return (&trial{t, t.Env.SeedsOr(5)}).all() },
	}
}

type trial struct {
	*lab.Trial
	seeds int
}

func (t *trial) all() error {
	t.Report.Table.Columns = []string{"what", "loss", "parameters", "measured", "reference"}
	t.Report.Summary.Columns = t.Report.Table.Columns
	for _, part := range []func() error{t.evaluations, t.fleets, t.noise, t.sigmas} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// add adds a row, and a claim if the row has one.
func (t *trial) add(what, loss string, d int, measured, reference string) {
	t.Report.Table.Add(what, loss, d, measured, reference)
	t.Report.Summary.Add(what, loss, d, measured, reference)
	t.Env.Say("%s, %s of %d: %s (%s)", what, loss, d, measured, reference)
}

// A budget is a loss of d parameters, and the evaluations that a prototype in numpy and pycma 4.5
// took to 1e-8 of the gap, with five seeds. On rastrigin of 2 the prototype had 200: its first
// start finds the optimum in 43 of them, and its median of five depends on which. Float32
// parameters of up to 10 come only to some 1e-7 of ackley's gap: runs go to 1e-6 there.
type budget struct {
	loss             string
	dim              int
	prototype, pycma int
}

var budgets = []budget{
	{"ell3", 2, 310, 226}, {"ell3", 6, 1049, 943}, {"ell3", 20, 4682, 4634},
	{"ell6", 2, 346, 276}, {"ell6", 6, 1366, 1404}, {"ell6", 20, 11039, 10612},
	{"rosen", 2, 430, 410}, {"rosen", 6, 2204, 2247}, {"rosen", 20, 15851, 16150},
	{"ackley", 2, 506, 429}, {"ackley", 6, 1568, 1526}, {"ackley", 20, 4621, 4607},
	{"rastrigin", 2, 2482, 1410}, {"rastrigin", 6, 14864, 15994},
}

func (b *budget) target() float64 {
	if b.loss == "ackley" {
		return 1e-6
	}
	return 1e-8
}

// allowed is how many times the prototype's evaluations a run may take.
const allowed = 1.3

// evaluations compares the evaluations that a run takes with those of the prototype.
func (t *trial) evaluations() error {
	for _, b := range budgets {
		if t.Env.Short && (b.dim > 6 || b.loss == "rastrigin" && b.dim > 2) {
			continue
		}
		counts, err := t.counts(20*b.prototype, b.target(), func(seed uint64) (*loss, []string) {
			l := newLoss(b.loss, b.dim, seed)
			return l, []string{fmt.Sprint("step=", l.sigma), fmt.Sprint("restarts=", l.restarts),
				"perturbations_auto=off"}
		})
		if err != nil {
			return err
		}
		got := medianOf(counts)
		t.add(fmt.Sprintf("evaluations to %.0e", b.target()), b.loss, b.dim,
			fmt.Sprintf("%d (%d of %d)", got, len(counts), t.seeds),
			fmt.Sprintf("prototype %d, pycma %d", b.prototype, b.pycma))
		most := allowed * float64(max(b.prototype, b.pycma))
		t.Report.Claim(len(counts) > t.seeds/2 && float64(got) <= most,
			fmt.Sprintf("%s of %d: %.0e of the gap within %v times the reference's evaluations", b.loss,
				b.dim, b.target(), allowed),
			"%d, the prototype %d, pycma %d", got, b.prototype, b.pycma)
	}
	return nil
}

// counts returns the evaluations of the seeds' runs until they reach the target, of those that do
// within most. next returns the loss of a seed, and the fields of its plan.
func (t *trial) counts(most int, target float64, next func(seed uint64) (*loss, []string)) (
	counts []int, err error) {
	for seed := range uint64(t.seeds) {
		l, set := next(seed)
		s := newSearch(l, most, target)
		p, err := planOf("cma", 1, l.dim, seed, set...)
		if err == nil {
			err = s.run(t.Ctx, p)
		}
		if err != nil {
			return nil, err
		}
		if s.reached[0] > 0 {
			counts = append(counts, s.reached[0])
		}
	}
	return counts, nil
}

// medianOf returns the middle of a list, or zero of an empty one.
func medianOf[T cmp.Ordered](v []T) (middle T) {
	if len(v) == 0 {
		return middle
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// A kind is a fleet, its evaluations of a device, and the gap that the prototype left.
type kind struct {
	name          string
	devices, dim  int
	power, unlike float64
	noise         float64
	queries       int
	prototype     float64
	long          bool
}

// gap returns the median gap of a preset over the seeds.
func (t *trial) gap(k *kind, preset string, set ...string) (float64, error) {
	var gaps []float64
	for seed := range uint64(t.seeds) {
		c := newCrowd(k.devices, k.dim, k.power, k.unlike, k.noise, seed)
		p, err := planOf(preset, k.devices, k.dim, seed, set...)
		if err != nil {
			return 0, err
		}
		gap, err := c.run(t.Ctx, p, k.queries, seed)
		if err != nil {
			return 0, err
		}
		gaps = append(gaps, gap)
	}
	return medianOf(gaps), nil
}

var fleets = []kind{
	{"10 alike", 10, 6, 3, 0, 0, 600, 5e-5, false}, {"10 unlike", 10, 6, 3, 1, 0, 600, 1e-4, false},
	{"100 unlike", 100, 6, 3, 1, 0, 600, 4e-4, true},
	{"10 alike", 10, 20, 3, 0, 0, 2400, 1e-4, true}, {"10 unlike", 10, 20, 3, 1, 0, 2400, 3e-4, true},
}

// fleets compares the gaps that fleets leave with the prototype's, and with those of zofl.
func (t *trial) fleets() error {
	for _, k := range fleets {
		if t.Env.Short && k.long {
			continue
		}
		own, err := t.gap(&k, "cma", "step=0.3", "perturbations_auto=off")
		if err != nil {
			return err
		}
		other, err := t.gap(&k, "zofl")
		if err != nil {
			return err
		}
		t.add(fmt.Sprintf("gap, %d evaluations, %s", k.queries, k.name), "ell3", k.dim,
			fmt.Sprintf("%.1e", own), fmt.Sprintf("prototype %.0e, zofl %.1e", k.prototype, other))
		t.Report.Claim(own <= 2*k.prototype && own < other,
			fmt.Sprintf("%s devices, %d parameters: as near as the prototype, and nearer than zofl",
				k.name, k.dim),
			"gap %.1e, the prototype %.0e, zofl %.1e", own, k.prototype, other)
	}
	return nil
}

var noisy = []kind{
	{"1 device, 1 % noise", 1, 6, 1, 0, 0.01, 1000, 2e-3, false},
	{"1 device, 1 % noise", 1, 20, 1, 0, 0.01, 3000, 2.5e-3, true},
	{"10 unlike, 1 % noise", 10, 6, 3, 1, 0.01, 600, 3e-3, true},
	{"10 unlike, 1 % noise", 10, 20, 3, 1, 0.01, 2400, 6e-3, true},
	{"10 unlike, 10 % noise", 10, 20, 3, 1, 0.1, 2400, 4e-2, true},
}

// noise compares the rule for noise with as many candidates as a run begins with.
func (t *trial) noise() error {
	for _, k := range noisy {
		if t.Env.Short && k.long {
			continue
		}
		rule, err := t.gap(&k, "cma", "step=0.3", "perturbations_auto=on")
		if err != nil {
			return err
		}
		fixed, err := t.gap(&k, "cma", "step=0.3", "perturbations_auto=off")
		if err != nil {
			return err
		}
		t.add(fmt.Sprintf("gap, %d evaluations, %s", k.queries, k.name), fmt.Sprintf("ell%v", k.power),
			k.dim, fmt.Sprintf("rule %.1e, fixed %.1e", rule, fixed),
			fmt.Sprintf("prototype %.0e with the rule", k.prototype))
		t.Report.Claim(rule <= 2*k.prototype, fmt.Sprintf("%s, %d parameters: as near as the prototype "+
			"with the rule for noise", k.name, k.dim), "gap %.1e, the prototype %.0e", rule, k.prototype)
	}
	return nil
}

// sigmas counts evaluations with parameters of another scale, whose first sigma devices find.
func (t *trial) sigmas() error {
	for _, c := range []struct {
		scale     float64
		prototype int
	}{{1e-4, 1081}, {1, 1108}, {1e4, 1270}} {
		counts, err := t.counts(20*c.prototype, 1e-8, func(seed uint64) (*loss, []string) {
			l := newLoss("ell3", 6, seed)
			at := l.at
			l.at = func(x []float64) float64 {
				y := make([]float64, len(x))
				for i, v := range x {
					y[i] = v / c.scale
				}
				return at(y)
			}
			return l, nil
		})
		if err != nil {
			return err
		}
		got := medianOf(counts)
		t.add(fmt.Sprintf("evaluations to 1e-8, sigma found, x times %g", c.scale), "ell3", 6,
			fmt.Sprintf("%d (%d of %d)", got, len(counts), t.seeds),
			fmt.Sprintf("prototype %d", c.prototype))
		t.Report.Claim(len(counts) > t.seeds/2 && float64(got) <= allowed*float64(c.prototype),
			fmt.Sprintf("x times %g: devices find a first sigma as good as the prototype's", c.scale),
			"%d evaluations, the prototype %d", got, c.prototype)
	}
	return nil
}
