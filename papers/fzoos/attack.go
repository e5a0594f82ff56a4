package fzoos

import (
	"fmt"

	"github.com/zofl/zofl/papers/blackbox"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
)

const (
	margin       = "margin" // F: the attack succeeds where it is below 0
	unsuccessful = "not misled"
	attackRounds = 100
)

// attack makes figure 7, where images take the place of seeds.
func (x *boxRun) attack() error {
	set, err := x.Env.MNIST()
	if err != nil {
		return err
	}
	for _, portion := range x.size.portions {
		a, err := blackbox.NewAttack(x.Ctx, set.Train, set.Test, blackbox.AttackConfig{
			Portion: portion, Images: x.size.images, Goroutines: 2, Logf: x.Env.Logf,
		})
		if err != nil {
			return err
		}
		if err := x.mislead(a, portion); err != nil {
			return err
		}
	}
	return nil
}

// mislead runs all methods on the attack of every image.
func (x *boxRun) mislead(a *blackbox.Attack, portion float64) error {
	t := &boxTask{
		name: "m" + lab.Token(float32(portion)), draws: "attack", title: fmt.Sprintf("P=%g", portion),
		metric: unsuccessful, metrics: []string{margin},
		rounds: x.size.few(attackRounds), steps: steps, seeds: a.Len(),
		at: func(seed uint64) (blackbox.Problem, func([]float32) []float64, error) {
			k := a.Target(int(seed) - 1)
			f := blackbox.Mean(k)
			return k, func(x []float32) []float64 {
				v := f(x)
				if v < 0 {
					return []float64{0, v}
				}
				return []float64{1, v}
			}, nil
		},
	}
	curves, err := x.compare(t, append([]contest.Method{x.size.fzoos()}, baselines...))
	if err != nil {
		return err
	}
	x.sooner(curves[0], curves[1:], "Adam")
	low := *t
	low.metric = margin
	for _, c := range curves {
		c.task = &low
	}
	x.sooner(curves[0], curves[1:], "Adam")
	return nil
}
