// Package policies lists the policies of this version, and says which of them a plan uses.
package policies

import (
	"github.com/zofl/zofl/coordinator/internal/grouping"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/secagg"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
)

// Of returns the policies of a plan for a coordinator of an epoch. The policies read the plan at
// each call, so they see the plan's changes.
func Of(p *plan.Plan, epoch uint64) (s policy.Set) {
	if p.MuAuto > 0 || p.StepAuto > 0 {
		s.Surveys = append(s.Surveys, &scaling{p})
	}
	if p.StepAuto > 0 {
		s.Law = &law{plan: p}
	}
	if p.Sharing == plan.GroupDirections {
		chooser := grouping.New(epoch)
		s.Stages.Groups, s.Groups = chooser, &groups{chooser, p}
		if p.Groups == wiregroups.Sketch {
			s.Surveys = append(s.Surveys, &sketches{chooser, p})
		}
	}
	if p.Summed() {
		v := secagg.New(p)
		s.Stages.Sum, s.Steps = v, v
	}
	return s
}

var _ policy.Steps = (*secagg.Leader)(nil)
