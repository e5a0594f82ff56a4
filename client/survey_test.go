package client_test

import (
	"slices"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// asking makes an announcement ask for a survey.
func asking(k survey.Kind) func(*wire.Announcement) {
	return func(a *wire.Announcement) {
		a.Rest, a.StepSize, a.Perturbations = survey.Ask(nil, k), 0, 0
	}
}

// TestSurveys: a device answers the surveys that its plan has, and refuses all other surveys. The
// answers contain the device's losses.
func TestSurveys(t *testing.T) {
	for name, test := range map[string]struct {
		plan func() *plan.Plan
		has  []survey.Kind
	}{
		"plain": {plan: func() *plan.Plan { return testPlan(small) }},
		"noise": {plan: func() *plan.Plan { return noisyPlan(1) }},
		"sums": {plan: func() *plan.Plan {
			p := testPlan(small)
			p.Secure, p.Members, p.Target, p.Quorum, p.MaxScalar = 1, 4, 4, 3, 100
			return p
		}},
		"mu found by devices": {plan: func() *plan.Plan {
			p := testPlan(small)
			p.MuAuto, p.Mu = 1, 0
			return p
		}, has: []survey.Kind{survey.Mu}},
		"mu already found": {plan: func() *plan.Plan {
			p := testPlan(small)
			p.MuAuto = 1
			return p
		}},
		"step found by devices": {plan: func() *plan.Plan {
			p := testPlan(small)
			p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
			p.StepAuto, p.StepSize = 1, 0
			return p
		}, has: []survey.Kind{survey.Step}},
		"groups of a kind": {plan: func() *plan.Plan {
			p := groupPlan()
			p.Groups = grouping.Sketch
			return p
		}, has: []survey.Kind{survey.Sketch}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h, o := newHost(t, test.plan()), bowlLoss(small, 0)
				d := h.device("d0", o, with(newStore(t)))
				refused := uint64(0)
				for _, kind := range []survey.Kind{survey.None, survey.Mu, survey.Step,
					survey.Sketch, 99} {
					h.announce(asking(kind))
					if slices.Contains(test.has, kind) {
						if r := h.one(wire.Contribution); survey.Answered(r.Rest) != kind {
							t.Errorf("the answer to %v is one to %v", kind, survey.Answered(r.Rest))
						}
						continue
					}
					h.silent()
					refused++
					if p := d.now(); p.State != client.Waiting || p.Err == nil ||
						p.Refused != refused {
						t.Errorf("kind %v: progress %+v, want an error and %d refused", kind, p,
							refused)
					}
				}
			})
		})
	}
}
