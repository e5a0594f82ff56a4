package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zofl/zofl/testing/paper/lab"
	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
)

// A zofedhtMethod is a method that the paper compares.
type zofedhtMethod struct {
	name, tag, preset string
	subspace          bool // has an alpha
}

var (
	zofedhtHT  = zofedhtMethod{"ZOFedHT", "ht", "zofedht", true}
	zofedhtSGD = zofedhtMethod{"ZOFedAvg-SGD", "sgd", "zofedavg-sgd", false}
	zofedhtGD  = zofedhtMethod{"ZOFedAvg-GD", "gd", "zofedavg-gd", false}
	// zofedhtMethods are in the order in which they are tuned.
	zofedhtMethods = []zofedhtMethod{zofedhtSGD, zofedhtGD, zofedhtHT}
)

type zofedhtKey struct {
	zofedhtMethod
	shared bool
}

// A zofedhtSetting is a method with its step and alpha. Mu, K, tau, batches and the step's
// decay are the presets', which have the paper's values.
type zofedhtSetting struct {
	zofedhtMethod
	shared     bool
	eta, alpha float64
}

// runName returns the setting's token for names of runs.
func (z *zofedhtSetting) runName(s *zofedhtSet) string {
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
func (z *zofedhtSetting) String() string {
	if z.subspace {
		return fmt.Sprintf("%s (eta0 %.3g, alpha %g)", z.name, z.eta, z.alpha)
	}
	return fmt.Sprintf("%s (eta0 %.3g)", z.name, z.eta)
}

// A zofedhtTuned is a setting and its runs, by seed from 1.
type zofedhtTuned struct {
	zofedhtSetting
	results lab.Results
}

// of returns a method's runs.
func (s *zofedhtSet) of(m zofedhtMethod, shared bool) *zofedhtTuned {
	return s.tuned[zofedhtKey{m, shared}]
}

// tune trains every setting of a method's grid with seed 1, and the one with the least loss
// after the last round with the other seeds.
func (x *zofedhtRun) tune(s *zofedhtSet, m zofedhtMethod, shared bool) (*zofedhtTuned, error) {
	var best zofedhtSetting
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
		x.env.Say("%s, %s: loss %.4f", s.name, z.String(), loss)
		if i == 0 || loss < least {
			best, least = z, loss
		}
	}
	return x.repeat(s, best)
}

// grid returns the settings that a method is tuned over.
func (x *zofedhtRun) grid(s *zofedhtSet, m zofedhtMethod, shared bool) []zofedhtSetting {
	etas, alphas := x.size.etas, []float64{0}
	if m.subspace {
		alphas = x.size.alphas
	}
	if first := s.of(zofedhtSGD, false); x.size.oneEta && first != nil {
		etas = []float64{first.eta}
		if relayed := s.of(m, false); shared && relayed != nil {
			alphas = []float64{relayed.alpha}
		}
	}
	var list []zofedhtSetting
	for _, eta := range etas {
		for _, alpha := range alphas {
			list = append(list, zofedhtSetting{m, shared, eta, alpha})
		}
	}
	return list
}

// repeat trains a setting with every seed. Saved runs are not repeated.
func (x *zofedhtRun) repeat(s *zofedhtSet, z zofedhtSetting) (*zofedhtTuned, error) {
	t := &zofedhtTuned{zofedhtSetting: z}
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

// one trains a setting with a seed, once.
func (x *zofedhtRun) one(s *zofedhtSet, z zofedhtSetting, seed uint64) (*run.Result, error) {
	key := fmt.Sprint(z.runName(s), " ", seed)
	if r := x.trained[key]; r != nil {
		return r, nil
	}
	r, err := x.env.TrainOne(x.ctx, x.report.ID, x.training(s, z), seed)
	if r != nil {
		x.tabulate(s, &z, r.Curve)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, %s, seed %d: %w", s.name, z.String(), seed, err)
	}
	x.trained[key] = r
	return r, nil
}

func (x *zofedhtRun) training(s *zofedhtSet, z zofedhtSetting) *lab.Training {
	preset := z.preset
	if z.shared {
		preset += "-shared"
	}
	return &lab.Training{
		Name: z.runName(s), Preset: preset, Clients: x.size.clients, Asked: x.size.asked,
		Rounds: x.size.rounds,
		Task:   s.task(), Order: run.Draws, Every: x.size.every,
		Shares: func(seed uint64) ([][]int, error) { return x.shares(s, seed) },
		Set: func(p *wire.Plan) {
			p.Segments, p.StepSize = s.segments, float32(z.eta)
			if z.subspace {
				p.SubspaceShare = float32(z.alpha)
			}
		},
	}
}

// finalLoss returns the loss over all samples after the last round; infinite for a run that
// did not get there.
func finalLoss(r *run.Result, rounds uint64) float64 {
	if loss := r.Curve.At(wholeLoss, rounds); !math.IsNaN(loss) {
		return loss
	}
	return math.Inf(1)
}
