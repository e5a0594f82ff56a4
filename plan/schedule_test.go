package plan_test

import (
	"math"
	"testing"

	"github.com/zofl/zofl/plan"
)

func TestStepAt(t *testing.T) {
	cosine := plan.Plan{
		LocalFields: plan.LocalFields{StepSize: 2, StepDecay: plan.Cosine, Floor: 0.1},
		StopFields:  plan.StopFields{Rounds: 100},
	}
	tests := []struct {
		name  string
		plan  plan.Plan
		round uint64
		want  float32
	}{
		{"constant", plan.Plan{LocalFields: plan.LocalFields{StepSize: 0.1}}, 1, 0.1},
		{"constant, late", plan.Plan{LocalFields: plan.LocalFields{StepSize: 0.1}}, 1 << 53, 0.1},
		{"inverse root", plan.Plan{
			LocalFields: plan.LocalFields{StepSize: 0.1, StepDecay: plan.InverseSqrt},
		}, 4, 0.05},
		{"inverse root of round 0", plan.Plan{
			LocalFields: plan.LocalFields{StepSize: 0.1, StepDecay: plan.InverseSqrt},
		}, 0, 0.1},
		{"cosine, first", cosine, 1, 2},
		{"cosine, half", cosine, 51, 1.1},
		{"cosine, end", cosine, 101, 0.2},
		{"cosine, beyond", cosine, 1 << 53, 0.2},
		{"cosine to nothing", plan.Plan{
			LocalFields: plan.LocalFields{StepSize: 2, StepDecay: plan.Cosine},
			StopFields:  plan.StopFields{Rounds: 4},
		}, 5, 2e-6},
		{"slow root", plan.Plan{
			LocalFields: plan.LocalFields{StepSize: 2, StepDecay: plan.SlowSqrt},
		}, 91, 1},
		{"slow root, first", plan.Plan{
			LocalFields: plan.LocalFields{StepSize: 2, StepDecay: plan.SlowSqrt},
		}, 1, 2},
		{"normalized", plan.Plan{
			LocalFields:  plan.LocalFields{StepSize: 2, StepDecay: plan.SlowSqrt},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerNormalized},
		}, 91, 1},
		{"adam", plan.Plan{
			LocalFields:  plan.LocalFields{StepSize: 2, StepDecay: plan.SlowSqrt},
			ServerFields: plan.ServerFields{ServerRule: plan.ServerAdam},
		}, 91, 2},
	}
	for _, test := range tests {
		if got := test.plan.StepSizeAt(test.round); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// TestFactorAt: the schedules change only one step size: the one that sets the length of a round's
// move.
func TestFactorAt(t *testing.T) {
	p := plan.Plan{
		LocalFields: plan.LocalFields{StepSize: 0.5, StepDecay: plan.Cosine, Floor: 0.1},
		StopFields:  plan.StopFields{Rounds: 100},
	}
	for rule := plan.ServerMean; rule <= plan.ServerNormalized; rule++ {
		if p.ServerRule = rule; rule == 7 {
			continue
		}
		for round, want := range map[uint64]float64{5: 0.99645, 51: 0.55, 500: 0.1} {
			step, factor := p.StepSizeAt(round), p.FactorAt(round)
			if got := float64(step * factor); math.Abs(got-0.5*want) > 1e-5 {
				t.Errorf("%v, round %d: step %v, factor %v, want %v in all", rule, round, step, factor,
					0.5*want)
			}
			if onStep := rule == plan.ServerMean || rule == plan.ServerNormalized; onStep !=
				(factor == 1) || onStep == (step == 0.5) {
				t.Errorf("%v, round %d: step %v, factor %v", rule, round, step, factor)
			}
		}
	}
	p = plan.Plan{
		LocalFields:  plan.LocalFields{StepSize: 0.5, StepDecay: plan.InverseSqrt},
		ServerFields: plan.ServerFields{ServerRule: plan.ServerAdam},
	}
	if step, factor := p.StepSizeAt(4), p.FactorAt(4); step != 0.25 || factor != 1 {
		t.Errorf("inverse root with adam: step %v, factor %v", step, factor)
	}
}

func TestPerturbationsAt(t *testing.T) {
	p := plan.Plan{
		ProbeFields: plan.ProbeFields{
			Perturbations: 5,
			PerturbationSchedule: []plan.PerturbationPoint{{Round: 3, Perturbations: 20},
				{Round: 7, Perturbations: 10}},
		},
	}
	for round, want := range map[uint64]uint32{1: 5, 2: 5, 3: 20, 6: 20, 7: 10, 1 << 53: 10} {
		if got := p.PerturbationsAt(round); got != want {
			t.Errorf("round %d: got %d, want %d", round, got, want)
		}
	}
	if got := p.MaxPerturbations(); got != 20 {
		t.Errorf("most: got %d, want 20", got)
	}
}

func TestQueries(t *testing.T) {
	p := plan.Plan{ProbeFields: plan.ProbeFields{Steps: 3, Difference: plan.Forward}}
	if got := p.Queries(10); got != 33 {
		t.Errorf("forward: got %d, want 3*(10+1)", got)
	}
	p.Difference = plan.Central
	if got := p.Queries(10); got != 60 {
		t.Errorf("central: got %d, want 2*3*10", got)
	}
}

func TestLayout(t *testing.T) {
	got := (&plan.Plan{Dim: 9}).Layout()
	if len(got) != 1 || got[0] != (plan.Segment{Name: "all", Len: 9, MuScale: 1, StepScale: 1}) {
		t.Errorf("no segments: got %+v", got)
	}
	p := &plan.Plan{
		Dim: 9,
		ModelFields: plan.ModelFields{
			Segments: []plan.Segment{{Name: "a", Len: 4, MuScale: 2},
				{Name: "b", Len: 5, StepScale: 3}},
		},
	}
	got = p.Layout()
	if len(got) != 2 || got[0].MuScale != 2 || got[0].StepScale != 1 || got[1].MuScale != 1 ||
		got[1].StepScale != 3 {
		t.Errorf("two segments: got %+v", got)
	}
	if p.Segments[0].StepScale != 0 {
		t.Error("Layout changed the plan")
	}
}
