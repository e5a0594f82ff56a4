package zofedht

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// A method is a method that the paper compares.
type method struct {
	name, tag, preset string
	subspace          bool // has an alpha
}

var (
	ht  = method{"ZOFedHT", "ht", "zofedht", true}
	sgd = method{"ZOFedAvg-SGD", "sgd", "zofedavg-sgd", false}
	gd  = method{"ZOFedAvg-GD", "gd", "zofedavg-gd", false}
	// methods are in the order in which they are tuned.
	methods = []method{sgd, gd, ht}
)

type key struct {
	method
	shared bool
}

// A setting is a method with its step and alpha. Mu, K, tau, batches and the decay of the step
// size come from the presets, which have the paper's values.
type setting struct {
	method
	shared     bool
	eta, alpha float64
}

// runName returns the setting's token for names of runs.
func (z *setting) runName(s *set) string {
	number := func(v float64) string {
		return strings.ReplaceAll(strconv.FormatFloat(v, 'g', 3, 64), ".", "_")
	}
	name := fmt.Sprintf("%s-%s-e%s", s.tag, z.tag, number(z.eta))
	if z.subspace {
		name += "-a" + number(z.alpha)
	}
	if z.shared {
		name += "-s"
	}
	return name
}

// String describes the setting, without the source of its directions.
func (z *setting) String() string {
	if z.subspace {
		return fmt.Sprintf("%s (eta0 %.3g, alpha %g)", z.name, z.eta, z.alpha)
	}
	return fmt.Sprintf("%s (eta0 %.3g)", z.name, z.eta)
}

// A tuned is a setting and its runs, by seed from 1.
type tuned struct {
	setting
	results lab.Results
}

// of returns a method's runs.
func (s *set) of(m method, shared bool) *tuned {
	return s.tuned[key{m, shared}]
}

// tune trains every setting of a method's grid with seed 1. Then tune trains the setting with the
// least loss after the last round with the other seeds.
func (x *trial) tune(s *set, m method, shared bool) (*tuned, error) {
	var best setting
	least := math.Inf(1)
	grid := x.grid(s, m, shared)
	for i, z := range grid {
		if len(grid) == 1 {
			best = z
			break
		}
		r, err := x.one(s, z, 1)
		if err != nil {
			return nil, err
		}
		loss := finalLoss(r, x.size.rounds)
		x.Env.Say("%s, %s: loss %.4f", s.name, z.String(), loss)
		if i == 0 || loss < least {
			best, least = z, loss
		}
	}
	return x.repeat(s, best)
}

// grid returns the settings from which tune chooses the best for a method.
func (x *trial) grid(s *set, m method, shared bool) []setting {
	etas, alphas := x.size.etas, []float64{0}
	if m.subspace {
		alphas = x.size.alphas
	}
	if first := s.of(sgd, false); x.size.oneEta && first != nil {
		etas = []float64{first.eta}
		if relayed := s.of(m, false); shared && relayed != nil {
			alphas = []float64{relayed.alpha}
		}
	}
	var list []setting
	for _, eta := range etas {
		for _, alpha := range alphas {
			list = append(list, setting{m, shared, eta, alpha})
		}
	}
	return list
}

// repeat trains a setting with every seed. For a seed with a saved run, repeat reads that run
// instead.
func (x *trial) repeat(s *set, z setting) (*tuned, error) {
	t := &tuned{setting: z}
	for seed := uint64(1); seed <= uint64(x.size.seeds); seed++ {
		r, err := x.one(s, z, seed)
		if err != nil {
			return nil, err
		}
		t.results = append(t.results, r)
	}
	x.draw(s, t)
	return t, nil
}

// one trains a setting with a seed, and remembers the result.
func (x *trial) one(s *set, z setting, seed uint64) (*run.Result, error) {
	key := fmt.Sprint(z.runName(s), " ", seed)
	if r := x.trained[key]; r != nil {
		return r, nil
	}
	r, err := x.Env.TrainOne(x.Ctx, x.Report.ID, x.training(s, z), seed)
	if r != nil {
		x.tabulate(s, &z, r.Curve)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, %s, seed %d: %w", s.name, z.String(), seed, err)
	}
	x.trained[key] = r
	return r, nil
}

func (x *trial) training(s *set, z setting) *lab.Training {
	preset := z.preset
	if z.shared {
		preset += "-shared"
	}
	return &lab.Training{
		Name: z.runName(s), Preset: preset, Clients: x.size.clients, Asked: x.size.asked,
		Rounds: x.size.rounds,
		Task:   s.task(), Order: run.Draws, Every: x.size.every,
		Shares: func(seed uint64) ([][]int, error) { return x.shares(s, seed) },
		Set: func(p *plan.Plan) {
			p.Segments, p.StepSize = s.segments, float32(z.eta)
			if z.subspace {
				p.SubspaceShare = float32(z.alpha)
			}
		},
	}
}

// finalLoss returns the loss over all samples after the last round; infinite for a run that ended
// before.
func finalLoss(r *run.Result, rounds uint64) float64 {
	if loss := r.Curve.At(wholeLoss, rounds); !math.IsNaN(loss) {
		return loss
	}
	return math.Inf(1)
}
