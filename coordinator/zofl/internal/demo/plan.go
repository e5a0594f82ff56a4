package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/cost"
	"github.com/zofl/zofl/wire/plancheck"
	"github.com/zofl/zofl/wire/planfile"
	"github.com/zofl/zofl/wire/preset"
)

// metrics are the metrics that a device of the demo reports, in this order.
var metrics = []string{"loss", "accuracy"}

// plan returns the plan of a demo: the preset, with the demo's own values, then with the settings
// from the command line.
func plan(cfg Config) (*wire.Plan, error) {
	p, err := preset.New(cfg.Method, "demo", classifierDim)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zofl demo"), cfg.Seed))
	n := uint32(cfg.Clients)
	p.RunKey = key[:]
	p.Rounds = cfg.Rounds
	p.Members, p.Target, p.Quorum = n, n, max(n/2, 1)
	p.EvalEvery, p.EvalCount, p.Metrics = 50, 1, slices.Clone(metrics)
	if p.Transport != wire.DenseVectors {
		// As in the published MNIST runs; see the notes of the preset.
		p.Difference, p.Rule, p.Beta, p.WeightDecay = wire.Central, wire.TorchMomentum, 0.9, 1e-5
	}
	for _, s := range cfg.Settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, &wire.PlanError{Field: "set", Value: s, Remedy: "write it as field=value"}
		}
		if err := planfile.Set(p, name, value); err != nil {
			return nil, err
		}
	}
	if !slices.Equal(p.Metrics, metrics) {
		return nil, &wire.PlanError{Field: "metrics", Value: p.Metrics,
			Remedy: "leave it: the devices of the demo report loss and accuracy"}
	}
	if p.Dim != classifierDim {
		return nil, &wire.PlanError{Field: "dim", Value: p.Dim,
			Remedy: fmt.Sprintf("leave it: the classifier has %d parameters", classifierDim)}
	}
	if err := plancheck.Validate(p); err != nil {
		return p, err
	}
	return p, fits(p, cfg.Clients)
}

// mostMemory bounds the memory of all devices of a demo together, in bytes. A device with a
// surrogate of thousands of parameters takes hundreds of MiB.
const mostMemory = 4 << 30

func fits(p *wire.Plan, clients int) error {
	one := cost.Of(p, cost.Input{}).Flat
	if total := one * uint64(clients); total > mostMemory {
		return &wire.PlanError{Field: "clients", Value: clients, Remedy: fmt.Sprintf(
			"at %d MiB each, the devices need more than the %d GiB that a demo may use: "+
				"lower --clients, or fields of plan %s that cost memory, such as features and window",
			one>>20, mostMemory>>30, p.Preset)}
	}
	return nil
}
