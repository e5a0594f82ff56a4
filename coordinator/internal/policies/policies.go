// Package policies lists the policies of this version, and says which of them a plan uses.
package policies

import (
	"github.com/zofl/zofl/coordinator/internal/grouping"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/secagg"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
)

// Of returns the policies of a plan. The policies read the plan at each call, so they see the
// plan's changes. began is the epoch of record 1, once there is one.
func Of(p *plan.Plan, began *uint64) (s policy.Set) {
	if p.MuAuto > 0 || p.StepAuto > 0 {
		s.Surveys = append(s.Surveys, &scaling{p})
	}
	if p.StepAuto > 0 {
		l := &law{plan: p}
		s.Law, s.Knows = l, append(s.Knows, l)
	}
	if p.Sharing == plan.GroupDirections {
		chooser := grouping.New(began)
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
	if p.Summed() {
		v := secagg.New(p)
		s.Stages.Sum, s.Steps = v, v
	}
	return s
}

var _ policy.Steps = (*secagg.Leader)(nil)
