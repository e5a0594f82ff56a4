package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// metrics are the metrics that a device of the demo reports, in this order.
var metrics = []string{"loss", "accuracy"}

// Metrics returns the names of the metrics that the losses of [Losses] report, in order.
func Metrics() []string { return append([]string(nil), metrics...) }

// planOf returns the plan of a demo: the preset, then the values of the method's recipe, then the
// settings from the command line. note lists the values that differ from the preset.
func planOf(cfg Config) (p *plan.Plan, note string, err error) {
	r := recipeOf(cfg.Method)
	dim := classifierDim(r.shrink)
	if p, err = preset.Unbound(cfg.Method, "demo", dim); err != nil {
		return nil, "", err
	}
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zofl demo"), cfg.Seed))
	p.RunKey = key[:]
	if err := r.apply(p, cfg); err != nil {
		return nil, "", err
	}
	set, err := planfile.SetAll(p, cfg.Settings)
	if err != nil {
		return nil, "", err
	}
	preset.Overture(p, 0, set...)
	note = preset.Fit(p, set...)
	preset.Guard(p, set...)
	if err := canTrain(p, cfg, dim); err != nil {
		return nil, "", err
	}
	if err := plancheck.Validate(p); err != nil {
		return p, note, err
	}
	return p, note, fits(p, cfg.Clients)
}

// canTrain returns an error if the settings ask for a feature that the demo's devices lack.
func canTrain(p *plan.Plan, cfg Config, dim uint64) error {
	n := uint32(cfg.Clients)
	switch {
	case !slices.Equal(p.Metrics, metrics):
		return &plan.Error{Field: "metrics", Value: p.Metrics,
			Remedy: "leave it: the devices of the demo report loss and accuracy"}
	case p.Dim != dim:
		return &plan.Error{Field: "dim", Value: p.Dim,
			Remedy: fmt.Sprintf("leave it: the classifier has %d parameters", dim)}
	case p.Rounds == 0:
		return &plan.Error{Field: "rounds", Value: p.Rounds,
			Remedy: "give 1 or more: a demo ends"}
	case p.Members > n:
		return &plan.Error{Field: "members", Value: p.Members,
			Remedy: fmt.Sprintf("the demo has %d devices: raise --devices, or lower it", n)}
	case p.Target > n:
		return &plan.Error{Field: "target", Value: p.Target,
			Remedy: fmt.Sprintf("the demo has %d devices: raise --devices, or lower it", n)}
	case p.Classes > 0 && p.Classes != classes:
		return &plan.Error{Field: "classes", Value: p.Classes,
			Remedy: fmt.Sprintf("the images have %d classes: give classes=%d, or classes=0", classes,
				classes)}
	case p.Private() || p.Initial == plan.Given:
		return cli.Usage(fmt.Errorf("--set %s: leave out key_check and initial: the demo has no files "+
			"for them", strings.Join(cfg.Settings, ", ")))
	}
	return nil
}

// mostMemory bounds the memory of all devices of a demo together, in bytes. A device with a
// surrogate of thousands of parameters takes hundreds of MiB.
const mostMemory = 4 << 30

func fits(p *plan.Plan, clients int) error {
	one := cost.Of(p, cost.Input{}).Flat
	if total := one * uint64(clients); total > mostMemory {
		return cli.Usage(fmt.Errorf("--devices %d: at %d MiB each, the devices need more than the %d "+
			"GiB that a demo may use: give fewer, or lower fields of plan %s that cost memory, such as "+
			"features and window", clients, one>>20, mostMemory>>30, p.Preset))
	}
	return nil
}
