package wire

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zofl/zofl/prng"
)

// A PresetInfo is a method by name: a paper's algorithm with its defaults.
type PresetInfo struct {
	Name   string
	Source string // paper, algorithm and equations
	Notes  string // where defaults come from, and the traps
	apply  func(*Plan)
}

var presets = map[string]PresetInfo{
	"decomfl": {
		Name:   "decomfl",
		Source: "DeComFL, Algorithms 3 and 4 (P > 1; 1 and 2 are P = 1)",
		Notes: `Shared normal directions z, forward difference (Alg. 4, line 18), K local
steps x -= (eta/P) sum_p g_p z_p (line 21; equation (7) prints no 1/P),
unweighted mean of the scalars (Alg. 3, line 10). Defaults are section B.1's:
mu = 1e-3, batch 32, K = 1, P = 10; its step sizes are for language models, the
1e-3 here is that of the published MNIST runs. Those runs used central
differences, torch momentum 0.9 and weight decay 1e-5, which the paper does not
say: set difference=central rule=torch-momentum beta=0.9 weight_decay=1e-5.
rule=momentum is equations (8)-(9); its (1-beta) makes steps 10 times smaller
at beta = 0.9 than torch's momentum.`,
		apply: func(p *Plan) {
			p.Sharing, p.Distribution, p.Difference = SharedDirections, Normal, Forward
			p.Mu, p.Steps, p.Perturbations, p.Batch = 1e-3, 1, 10, 32
			p.Rule, p.Step = SGD, 1e-3
			p.Transport, p.Aggregator, p.Weights = Mean, WeightedMean, Equal
		},
	},
}

// Presets lists the presets by name.
func Presets() []PresetInfo {
	var list []PresetInfo
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		list = append(list, presets[name])
	}
	return list
}

// Preset returns a plan of a method for a run over dim parameters, with a
// fresh random run key; everything else can be changed before the run starts.
// It asks 10 devices a round, closes a round at 10 contributors or after 30
// seconds, and needs 5.
func Preset(name, run string, dim uint64) (*Plan, error) {
	info, ok := presets[name]
	if !ok {
		return nil, &PlanError{"preset", name,
			"choose one of " + strings.Join(slices.Sorted(maps.Keys(presets)), ", ")}
	}
	key := make(Bytes, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("plan: run_key: %w", err)
	}
	p := &Plan{
		Run: run, Preset: name, Scheme: prng.Scheme, RunKey: key, Dim: dim,
		MaxWeight: MaxWeight, MaxScalar: 1e6,
		Members: 10, Target: 10, OverSample: 1, Quorum: 5,
		Deadline: 30_000, MaxAttempts: DefaultMaxAttempts,
		Reannounce:     uint32(DefaultReannounce / time.Millisecond),
		AnnounceBudget: DefaultAnnounceBudget, Shards: 1,
		DigestEvery: DefaultDigestEvery, Diverge: 1,
	}
	info.apply(p)
	return p, nil
}
