package fzoos

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/papers/blackbox"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
)

// levels are values of F - F*: about a tenth and a hundredth of the value at the start of the
// runs.
var levels = []float64{0.3, 0.03}

// quadraticTask returns the problem of equation (98) with T local steps.
func (x *boxRun) quadraticTask(c float64, t uint32, rounds uint64) *boxTask {
	return &boxTask{
		name: fmt.Sprintf("q%s-%d", lab.Token(float32(c)), t), draws: "quadratic",
		title:  fmt.Sprintf("C=%g, T=%d", c, t),
		metric: lab.AboveMinimum, rounds: rounds, steps: t, seeds: x.size.seeds, random: true,
		at: func(seed uint64) (blackbox.Problem, func([]float32) []float64, error) {
			q, err := quadraticOf(c, seed)
			if err != nil {
				return nil, nil, err
			}
			least := q.Minimum()
			return q, func(x []float32) []float64 { return []float64{q.F(x) - least} }, nil
		},
	}
}

func quadraticOf(c float64, seed uint64) (*blackbox.Quadratic, error) {
	return blackbox.NewQuadratic(blackbox.QuadraticConfig{Dim: dim, Clients: clients,
		C: c, Seed: seed})
}

// quadratic makes figure 1. Where C is above N, the functions are concave in some coordinates,
// and quadratic also runs FZooS with gamma = 1. quadratic runs FZooS with the plain rule too.
func (x *boxRun) quadratic() error {
	few := x.size.fzoos()
	for _, c := range x.size.c {
		t := x.quadraticTask(c, steps, x.size.rounds)
		ours := []contest.Method{few.With(few.Name+"-r", "FZooS, 20 around x", "around=20"),
			few.With(few.Name, "FZooS, 5 around x")}
		best := ours[0]
		if c > clients {
			best = ours[0].With(few.Name+"-r1", "FZooS, 20 around x, gamma 1", "correction=one")
			ours = append(ours, best)
		}
		ours = append(ours, plainSteps([]contest.Method{best}, x.size.calm)...)
		if _, err := x.contend(t, ours, x.size.sgd); err != nil {
			return err
		}
	}
	return nil
}

// localUpdates makes figure 4, at C = 5.
func (x *boxRun) localUpdates() error {
	var curves []*boxCurve
	for _, steps := range x.size.steps {
		t := x.quadraticTask(5, steps, x.size.few(rounds))
		ours, err := x.contend(t,
			[]contest.Method{x.size.fzoos().With(x.size.name, fmt.Sprintf("FZooS, T=%d", steps))}, nil)
		if err != nil {
			return err
		}
		curves = append(ours, curves...)
	}
	x.ordered("C=5: the more local steps, the lower after as many rounds", curves)
	return nil
}

// contend compares variants of FZooS with all baselines on a quadratic problem. If sgd is not
// empty, contend also runs the baselines with the plain rule and these step sizes. contend
// returns FZooS's curves.
func (x *boxRun) contend(t *boxTask, forms []contest.Method,
	sgd []float32) (ours []*boxCurve, err error) {
	ours, err = x.compare(t, forms)
	if err != nil {
		return ours, err
	}
	adam, err := x.compare(t, baselines)
	if err != nil {
		return ours, err
	}
	var plain []*boxCurve
	if len(sgd) > 0 {
		if plain, err = x.compare(t, plainSteps(baselines, sgd)); err != nil {
			return ours, err
		}
	}
	for _, own := range ours {
		x.sooner(own, adam, "Adam")
		if len(plain) > 0 {
			x.sooner(own, plain, "SGD at its best step")
		}
		for _, level := range levels {
			x.reaches(level, own, append(slices.Clone(adam), plain...))
		}
	}
	return ours, nil
}

// features makes figure 5a, which varies the number of features.
func (x *boxRun) features() error {
	for _, c := range x.size.c {
		t := x.quadraticTask(c, steps, x.size.few(rounds))
		var list []contest.Method
		for i := len(x.size.features) - 1; i >= 0; i-- {
			m := x.size.features[i]
			list = append(list, x.size.fzoos().With("m"+m, "M="+m, "features="+m))
		}
		curves, err := x.compare(t, list)
		if err != nil {
			return err
		}
		x.ordered(t.title+": the more features, the lower", curves)
	}
	return nil
}

// ablation makes figure 5b, with two more correction lengths: gamma = 0 and the gamma of
// Corollary E.1.
func (x *boxRun) ablation() error {
	for _, c := range x.size.c {
		t := x.quadraticTask(c, steps, x.size.few(rounds))
		q, err := quadraticOf(c, 1)
		if err != nil {
			return err
		}
		plain := x.size.fzoos().With("i", "gamma 1/t", "features=1000")
		curves, err := x.compare(t, []contest.Method{
			plain,
			plain.With("1", "gamma 1", "correction=one"),
			plain.With("ir", "gamma 1/t, vector of the round", "correction_at=round"),
			plain.With("1r", "gamma 1, vector of the round", "correction=one", "correction_at=round"),
			plain.With("0", "gamma 0", "correction=zero"),
			plain.With("s", "gamma 1/t, SGD 0.1", plainRule...).At(0.1),
			plain.With("1s", "gamma 1, SGD 0.1",
				append([]string{"correction=one"}, plainRule...)...).At(0.1),
			plain.With("t", "gamma of Corollary E.1", "correction=theory",
				fmt.Sprintf("heterogeneity=%.3g", heterogeneityOf(q))),
		})
		if err != nil {
			return err
		}
		for _, other := range curves[1:] {
			x.ordered(t.title+": gamma 1/t at the iterate ends no higher than "+other.Title,
				[]*boxCurve{curves[0], other})
		}
	}
	return nil
}

// heterogeneityOf returns G at the first seed's initial x, in the box's coordinates: the
// mean of |grad f_i - grad F|^2.
func heterogeneityOf(q *blackbox.Quadratic) float64 {
	d := q.Dim()
	x := make([]float32, d)
	q.Start(x, 1)
	own, all, sum := make([]float64, d), make([]float64, d), 0.0
	q.MeanGradient(all, x)
	low, high := q.Box()
	side := float64(high - low)
	for i := range clients {
		q.Gradient(own, i, x)
		for j, g := range own {
			sum += side * side * (g - all[j]) * (g - all[j])
		}
	}
	return sum / clients
}
