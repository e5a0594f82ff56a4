// Package policies lists the policies of this version, and says which of them a plan uses.
package policies

import (
	"github.com/zofl/zofl/coordinator/internal/grouping"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/secagg"
	"github.com/zofl/zofl/coordinator/runlog"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
)

// Of returns the policies of the plan of a log. The policies read the log's position at each call,
// so they see the plan's changes.
func Of(at *runlog.Position) (s policy.Set) {
	p := &at.Plan
	switch {
	case p.ServerRule == plan.ServerCMA:
		evolves(&s, at)
	case p.MuAuto > 0 || p.StepAuto > 0:
		scales(&s, at)
	}
	if p.Sharing == plan.GroupDirections {
		chooser := grouping.New(&at.FirstEpoch)
		s.Stages.Groups, s.Groups = chooser, &groups{chooser, p}
		if p.Groups == wiregroups.Sketch {
			s.Surveys = append(s.Surveys, &sketches{chooser, p})
		}
		if p.Groups == wiregroups.Auto {
			s.Knows = append(s.Knows, &choice{chooser})
		}
	}
	if p.Transport == plan.DenseVectors && p.Weights == plan.BySamples {
		k := &claims{}
		s.Stages.Claims, s.Knows = &k.Running, append(s.Knows, k)
	}
	var sums *secagg.Leader
	if p.Summed() {
		sums = secagg.New(p)
		s.Stages.Sum, s.Steps = sums, sums
	}
	if p.Columns > 0 {
		s.Surveys = append(s.Surveys, &columns{p, sums})
	}
	return s
}

var _ policy.Steps = (*secagg.Leader)(nil)
