package zofedht

import (
	"fmt"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

const paper = "ZOFedHT, section IV, figures 1 and 2"

// Experiments returns the experiments of ZOFedHT's section IV, one for each model and split.
//
// Short experiments on MNIST found that the subspace is not what helps. The mean of the
// estimate is (1-alpha) of the gradient outside the subspace, so on a grid of eta0 by
// powers of ten, alpha acts as a finer step: ZOFedAvg-SGD with eta0 (1-alpha) does as well
// or better (label-sorted, means of 3 runs: 0.501 against 0.540 logistic, 0.642 against
// 0.711 SVM). With IID data, where eta0 = 0.1 is not too long, alpha only slows it down
// (0.410 against 0.401, 1 run). The best of three runs, which the paper reports, favors
// ZOFedHT, because its runs differ most.
func Experiments() []lab.Experiment {
	var list []lab.Experiment
	for _, split := range []string{"iid", "noniid"} {
		for _, model := range []string{"lr", "svm", "mlp"} {
			list = append(list, experiment(split, model))
		}
	}
	return list
}

func experiment(split, model string) lab.Experiment {
	long := "some 4 hours, half of them on the sparse set"
	if model == "mlp" {
		long = "a day or two"
	}
	return lab.Experiment{
		ID: "zofedht-" + split + "-" + model,
		Title: fmt.Sprintf("ZOFedHT against ZOFedAvg, %s, %s data",
			modelNames[model], splitNames[split]),
		Paper: paper, Long: long,
		Do: func(t *lab.Trial) error {
			return newTrial(t, split, model, sizeOf(t.Env, model)).all()
		},
	}
}

var (
	modelNames = map[string]string{"lr": "logistic regression",
		"svm": "linear SVM", "mlp": "MLP-50"}
	splitNames = map[string]string{"iid": "IID", "noniid": "label-sorted"}
)

// A size says how much of the paper's experiment is run. The paper does not say for
// how many rounds it trains.
type size struct {
	sets    []string // data sets
	samples int      // the first of a data set; 0: all
	clients int
	asked   int // clients asked in a round
	rounds  uint64
	every   uint64 // rounds between measurements
	// The grid. Every method tunes its own step, or they take that of relayed ZOFedAvg-SGD,
	// which is tuned first.
	etas, alphas []float64
	oneEta       bool
	seeds        int // runs with the tuned settings
}

// full is the paper's grid, plus a9a. Planted replaces rcv1.
var full = size{
	sets: []string{"mnist", "fashion-mnist", "a9a", "planted"}, clients: 100, asked: 10,
	rounds: 500, every: 20, etas: []float64{.1, 1, 10},
	alphas: []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9}, seeds: 3,
}

// sizeOf returns the size for an environment. A short one is MNIST with a coarse
// grid: eta0 is tuned for all methods on ZOFedAvg-SGD, alpha is one of three, and the
// shared variants take the settings of the relayed ones. The MLP has only a sixth of MNIST,
// two steps and one alpha.
//
// The MLP is not trained on the sparse set: with its million parameters, 100 clients replay
// 500 directions each a round, which takes most of a minute, and the grid would take weeks.
func sizeOf(e *lab.Env, model string) size {
	s := full
	if model == "mlp" {
		s.sets = s.sets[:3]
	}
	if e.Short {
		s.sets, s.rounds, s.every = []string{"mnist"}, 60, 5
		s.alphas, s.oneEta = []float64{.1, .5, .9}, true
		if model == "mlp" {
			s.samples, s.rounds, s.every = 10_000, 36, 4
			s.etas, s.alphas = []float64{.1, 1}, []float64{.5}
		}
	}
	s.seeds = e.SeedsOr(s.seeds)
	return s
}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	split, model string
	size         size
	sets         []*set // trained so far
	trained      map[string]*run.Result
}

func newTrial(t *lab.Trial, split, model string, size size) *trial {
	t.Report.Table.Columns = append([]string{"data", "method", "directions", "eta0", "alpha", "seed"},
		(&run.Curve{Metrics: metrics}).Columns()...)
	t.Report.Figure = chart.Chart{
		Title: fmt.Sprintf("ZOFedHT, %s, %s", modelNames[model], splitNames[split]),
		X:     "function evaluations", Y: "training loss", LogY: true}
	return &trial{Trial: t, split: split, model: model, size: size,
		trained: map[string]*run.Result{}}
}

func (x *trial) all() error {
	for _, name := range x.size.sets {
		s, err := x.load(name)
		if err != nil {
			return err
		}
		if err := x.train(s); err != nil {
			return err
		}
		x.sets = append(x.sets, s)
	}
	x.claims()
	return nil
}

// train trains all methods on a data set: the paper's with relayed directions, then with
// shared directions, and finally the smaller step that may explain alpha's effect.
func (x *trial) train(s *set) error {
	for _, shared := range []bool{false, true} {
		for _, m := range methods {
			t, err := x.tune(s, m, shared)
			if err != nil {
				return err
			}
			s.tuned[key{m, shared}] = t
		}
	}
	ht := s.of(ht, false)
	t, err := x.repeat(s, setting{sgd, false, ht.eta * (1 - ht.alpha), 0})
	s.smaller = t
	return err
}
