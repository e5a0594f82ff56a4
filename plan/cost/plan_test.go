package cost_test

import (
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// testPlan returns a plan of the preset decomfl.
func testPlan(t *testing.T) *plan.Plan { return planOf(t, "decomfl") }

// planOf returns the plan of a preset, for run mnist over 100 parameters.
func planOf(t *testing.T, name string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "mnist", 100)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// byGroups changes a relay plan so that its devices share directions in two groups of five.
func byGroups(p *plan.Plan) *plan.Plan {
	p.Sharing, p.Groups, p.GroupSize, p.Regroup = plan.GroupDirections, grouping.Random, 5, 10
	p.Target, p.OverSample = 10, 1
	return p
}

// TestRecordBytes compares a plan's bound on its records with the records of a late round.
func TestRecordBytes(t *testing.T) {
	plans := map[string]*plan.Plan{}
	for _, name := range preset.Names() {
		plans[name] = planOf(t, name)
		if late := planOf(t, name); late.Transport != plan.DenseVectors {
			late.Late, late.Target = 5, min(late.Target, 9)
			plans[name+" with late work"] = late
		}
		if relay := planOf(t, name); relay.Transport == plan.Relay {
			plans[name+" by groups"] = byGroups(relay)
		}
	}
	for name, p := range plans {
		if valid.Plan(p) != nil {
			continue // the plan excludes late contributions
		}
		p.PerturbationsAuto = 0 // noise makes longer records than the first
		most := valid.RecordBytes(p)
		round := cost.Of(p, cost.Input{Round: 1 << 50})
		slack := 128 + 12*uint64(p.Target) // slots may be larger
		if all := uint64(round.Record); all > uint64(round.Records)*most || most > all*5/4+slack {
			t.Errorf("%s: %d records of %d bytes, and the bound on one is %d",
				name, round.Records, all, most)
		}
	}
}

// TestSurveys compares Surveys with the numbers on the page of methods.
func TestSurveys(t *testing.T) {
	set := func(change func(*plan.Plan)) *plan.Plan {
		p := planOf(t, "zofl")
		change(p)
		return p
	}
	sketch := func(p *plan.Plan) { p.Groups, p.GroupSize, p.Mu, p.StepSize = grouping.Sketch, 5, 1, 1 }
	for _, tt := range []struct {
		name string
		plan *plan.Plan
		want uint64
	}{
		{"decomfl", testPlan(t), 0},
		{"zofl", planOf(t, "zofl"), 19 + 17},
		{"a number for mu", set(func(p *plan.Plan) { p.Mu = 1e-3 }), 17},
		{"a number for step", set(func(p *plan.Plan) { p.StepSize = 0.1 }), 19},
		{"cma", planOf(t, "cma"), 19},
		{"sketches", set(sketch), 65},
		{"central", set(func(p *plan.Plan) { sketch(p); p.Difference = plan.Central }), 128},
		{"classes", set(func(p *plan.Plan) { sketch(p); p.Classes = 10 }), 0},
	} {
		if got := cost.Surveys(tt.plan); got != tt.want {
			t.Errorf("%s: %d evaluations, want %d", tt.name, got, tt.want)
		}
	}
}
