package eavesdrop

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/leak"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A score is the result of a run, and what it revealed.
type score struct {
	Accuracy float64   `json:"accuracy"`
	Fleet    float64   `json:"fleet"` // correlation where each device gets the fleet's histogram
	Views    []finding `json:"views"`
}

// A finding holds the results of attacking one view. A result is untold if the question makes no
// sense for the view.
type finding struct {
	First   float64 `json:"first"`   // correlation of labels' parts after the first rounds
	All     float64 `json:"all"`     // after all
	Error   float64 `json:"error"`   // L1, of 2
	Labels  float64 `json:"labels"`  // AUC of whose data are alike, by the estimated histograms
	Scalars float64 `json:"scalars"` // by the scalars, without a run key
	Losses  float64 `json:"losses"`  // by the losses
}

// untold stands for a result that does not exist; no attack has this result.
const untold = -9.0

func (f *finding) cells() []float64 {
	return []float64{f.First, f.All, f.Error, f.Labels, f.Scalars, f.Losses}
}

// score trains an arm and attacks it, or returns the score that an earlier run saved.
func (x *trial) score(a arm, seed uint64) (*score, error) {
	task, _ := x.set.Task(false)
	p, secret, err := x.plan(a, seed, task)
	if err != nil {
		return nil, err
	}
	file, err := x.Env.File(x.Report.ID+x.Env.Apart(), fmt.Sprintf("%s-%d", a.name, seed), p,
		fmt.Sprintf("\n%v %d", a.views, x.set.Train.Len()))
	if err != nil {
		return nil, err
	}
	return lab.Kept(file, func() (*score, error) { return x.train(a, p, secret, seed, task) })
}

// train trains an arm and attacks it.
func (x *trial) train(a arm, p *plan.Plan, secret []byte, seed uint64, task run.Task) (*score,
	error) {
	shares, err := x.deal(a, seed)
	if err != nil {
		return nil, err
	}
	spy := newSpy(p)
	cfg := run.Config{Name: a.name, Seed: seed, Task: task, Plan: p, Shares: shares,
		Secret: secret, Heard: spy.heard}
	if a.gradients {
		cfg.Differentiates = func(int) bool { return true }
	}
	r, err := x.Env.Once(x.Ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &score{Accuracy: r.Curve.At(run.Accuracy, x.rounds)}
	return s, x.attack(s, a, spy, r, shares)
}

// attack adds the findings of each view.
func (x *trial) attack(s *score, a arm, spy *spy, r *run.Result, shares [][]int) error {
	if err := spy.keepRounds(x.Ctx, r); err != nil {
		return err
	}
	truth := histograms(x.set.Train.Labels, shares)
	s.Fleet = leak.Correlation(slices.Concat(truth...), slices.Concat(fleets(truth)...))
	seen := make([][][]leak.Observation, len(a.views)) // by view and round
	if !a.secret && a.views[0].of != nobody {
		book := newReader(spy, x.set)
		if err := book.read(x.Ctx, r, func(n uint64, round *wire.Round) {
			for i, v := range a.views {
				seen[i] = append(seen[i], book.observed(v.of, n, round))
			}
		}); err != nil {
			return err
		}
	}
	for i, v := range a.views {
		s.Views = append(s.Views, found(v, spy, seen[i], truth))
	}
	return nil
}

// found attacks the observations of one view, and returns the finding.
func found(v view, spy *spy, seen [][]leak.Observation, truth [][]float64) finding {
	f := finding{untold, untold, untold, untold, untold, untold}
	near := leak.Near(truth)
	if len(seen) > 0 {
		first := leak.Histograms(len(truth), labelCount,
			slices.Concat(seen[:min(first, len(seen))]...))
		f.First = leak.Correlation(slices.Concat(first...), slices.Concat(truth...))
		all := leak.Histograms(len(truth), labelCount, slices.Concat(seen...))
		f.All = leak.Correlation(slices.Concat(all...), slices.Concat(truth...))
		f.Error = leak.L1(all, truth)
		f.Labels = leak.AUC(leak.Pairs(len(truth), func(i, j int) float64 {
			return -leak.L1(all[i:i+1], all[j:j+1])
		}), near)
	}
	if v.of == eachDevice {
		scalars, losses := spy.series(len(truth))
		f.Scalars = leak.AUC(leak.Alike(scalars), near)
		if device, _ := spy.plan.Noisy(); !device { // there are no losses
			f.Losses = leak.AUC(leak.Alike(losses), near)
		}
	}
	return f
}

// series returns the scalars of each device by round and group, and the difference between each
// device's losses and the mean of the other devices' losses.
func (s *spy) series(devices int) (scalars, losses []map[uint64][]float64) {
	scalars = make([]map[uint64][]float64, devices)
	losses = make([]map[uint64][]float64, devices)
	for i := range devices {
		scalars[i], losses[i] = map[uint64][]float64{}, map[uint64][]float64{}
	}
	for n, sent := range s.sent {
		mean := 0.0
		for _, one := range sent {
			mean += float64(one.loss) / float64(len(sent))
		}
		for slot, one := range sent {
			scalars[slot][n<<8|uint64(one.group)] = doubles(one.values)
			losses[slot][n] = []float64{float64(one.loss) - mean}
		}
	}
	return scalars, losses
}

// histograms returns the part of each label in each device's samples.
func histograms(labels []uint8, shares [][]int) [][]float64 {
	list := make([][]float64, len(shares))
	for i, share := range shares {
		list[i] = make([]float64, labelCount)
		for _, sample := range share {
			list[i][labels[sample]] += 1 / float64(len(share))
		}
	}
	return list
}

// fleets returns, for each device, the mean of all histograms.
func fleets(list [][]float64) [][]float64 {
	mean := make([]float64, labelCount)
	for _, h := range list {
		for c, v := range h {
			mean[c] += v / float64(len(list))
		}
	}
	return slices.Repeat([][]float64{mean}, len(list))
}
