package main

import (
	"encoding/json"
	"io"

	"github.com/zofl/zofl/examples/sensor/internal/config"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// makePlan returns a plan for devices with this configuration, with which a coordinator
// begins a run. Settings are fields of the plan, such as members=5.
func makePlan(cfg *config.Config, settings []string) (*plan.Plan, error) {
	s := shapeOf(cfg)
	// The README says why it is not zofl-shared.
	p, err := preset.UnboundDecomflAdam(cfg.Run, uint64(s.dim()))
	if err != nil {
		return nil, err
	}
	p.Segments, p.Metrics, p.EvalEvery = s.segments(), metrics, 100
	p.Members, p.Target, p.Quorum = 3, 0, 0
	p.Batch, p.Rounds, p.Deadline, p.MaxAttempts = 64, 3000, 5000, 1000
	p.ServerStep = 1e-2
	names, err := planfile.SetAll(p, settings)
	if err != nil {
		return nil, err
	}
	preset.Guard(p, names...) // one device must not spoil what the others learn
	complete(p)
	return p, valid.Plan(p)
}

// complete derives from members what the settings left out: a round waits for all devices,
// and succeeds with more than half.
func complete(p *plan.Plan) {
	for _, f := range []struct {
		at    *uint32
		value uint32
	}{{&p.Target, p.Members}, {&p.Quorum, p.Members/2 + 1}, {&p.EvalCount, p.Members}} {
		if *f.at == 0 {
			*f.at = f.value
		}
	}
}

func writePlan(w io.Writer, p *plan.Plan) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode((*planfile.Plan)(p))
}
