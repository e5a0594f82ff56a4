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
// In short experiments on MNIST, ZOFedHT won through its shorter steps, not through the subspace.
// Outside the subspace, the mean of ZOFedHT's estimate is (1-alpha) times the gradient. So on a
// grid of eta0 by powers of ten, alpha acts as a finer choice of the step size: ZOFedAvg-SGD with
// the step size eta0 (1-alpha) reaches an equal or lower loss (label-sorted, means of 3 runs:
// 0.501 against 0.540 logistic, 0.642 against 0.711 SVM). With IID data, where the step size eta0
// = 0.1 is not too large, alpha only slows the training down (0.410 against 0.401, 1 run). The
// best of three runs, which the paper reports, favors ZOFedHT, because its runs differ most.
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

// A size says which parts of the paper's experiment a trial runs. The paper does not give its
// number of rounds.
type size struct {
	sets    []string // data sets
	samples int      // the first of a data set; 0: all
	clients int
	asked   int // clients asked in a round
	rounds  uint64
	every   uint64 // rounds between measurements
	// etas and alphas are the grid. Without oneEta, a trial tunes eta0 for every method. With
	// oneEta, all methods take the eta0 of relayed ZOFedAvg-SGD, which the trial tunes first.
	etas, alphas []float64
	oneEta       bool
	seeds        int // runs with the tuned settings
}

// full has the grid of the paper, and a9a in addition to the paper's data sets. The data set
// planted replaces rcv1.
var full = size{
	sets: []string{"mnist", "fashion-mnist", "a9a", "planted"}, clients: 100, asked: 10,
	rounds: 500, every: 20, etas: []float64{.1, 1, 10},
	alphas: []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9}, seeds: 3,
}

// sizeOf returns the size for an environment. A short experiment uses MNIST alone and a coarse
// grid: the eta0 of ZOFedAvg-SGD for all methods, three values of alpha, and for the shared
// variants the settings of the relayed variants. A short experiment with the MLP uses only a
// sixth of MNIST, two step sizes and one alpha.
//
// No experiment trains the MLP on the sparse set. On this set the MLP has a million parameters,
// and 100 clients replay 500 directions each in a round. Such a round takes most of a minute, and
// the grid would take weeks.
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

// train trains all methods on a data set: first with relayed directions, as in the paper, and
// then with shared directions. Last, train runs ZOFedAvg-SGD with the smaller step size that may
// explain the effect of alpha.
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
