package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/zofl/zofl/wire"
)

// plan returns the plan of a demo: the method's preset, the demo's choices, and
// then the settings of whoever runs it.
func plan(cfg Config, im *images) (*wire.Plan, error) {
	p, err := wire.Preset(cfg.Method, "demo", uint64(im.train.Dim()))
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zofl demo"), cfg.Seed))
	n := uint32(cfg.Clients)
	p.RunKey = key[:]
	p.Rounds = cfg.Rounds
	p.Members, p.Target, p.Quorum = n, n, max(n/2, 1)
	p.Weights = wire.BySamples
	p.EvalEvery, p.EvalCount, p.Metrics = 50, 1, []string{"loss", "accuracy"}
	// As the published MNIST runs did it; see the preset's notes.
	p.Difference, p.Rule, p.Beta, p.WeightDecay = wire.Central, wire.TorchMomentum, 0.9, 1e-5
	for _, s := range cfg.Settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, &wire.PlanError{Field: "set", Value: s, Remedy: "write it as field=value"}
		}
		if err := p.Set(name, value); err != nil {
			return nil, err
		}
	}
	if p.Dim != uint64(im.train.Dim()) {
		return nil, &wire.PlanError{Field: "dim", Value: p.Dim, Remedy: fmt.Sprintf("the classifier has %d parameters: leave it", im.train.Dim())}
	}
	return p, p.Validate()
}
