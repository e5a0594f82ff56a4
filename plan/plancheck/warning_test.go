package plancheck_test

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
)

// TestVacuousPrivacy: for a plan whose noise guarantees nothing, Warnings says so and why. For a
// plan within the usual budgets there is no such warning.
func TestVacuousPrivacy(t *testing.T) {
	for _, tt := range []struct {
		name         string
		noise, delta float32
		rounds       uint64
		want         []string
	}{
		{"a usual budget", 20, 1e-5, 500, nil},
		{"no end", 0.01, 1e-5, 0, nil},
		{"hardly any noise", 0.01, 1e-5, 500, []string{"epsilon 2.5"}},
		{"many rounds", 4, 1e-5, 100_000, []string{"epsilon"}},
		{"a delta of everybody", 20, 0.05, 500, []string{"dp_delta=0.05"}},
		{"both", 0.01, 0.9, 500, []string{"dp_delta=0.9", "epsilon"}},
	} {
		p := &plan.Plan{
			ModelFields:   plan.ModelFields{Initial: plan.Given},
			PrivacyFields: plan.PrivacyFields{DPClip: 10, DPNoise: tt.noise, DPDelta: tt.delta},
			RoundsFields:  plan.RoundsFields{Members: 20, Target: 10},
			StopFields:    plan.StopFields{Rounds: tt.rounds},
		}
		got := plancheck.Warnings(p)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q", tt.name, got)
			continue
		}
		for i, text := range tt.want {
			if !strings.Contains(got[i], text) {
				t.Errorf("%s: %q lacks %q", tt.name, got[i], text)
			}
		}
	}
	if got := plancheck.Warnings(&plan.Plan{
		ModelFields: plan.ModelFields{Initial: plan.Given}, RoundsFields: plan.RoundsFields{Members: 20},
	}); got != nil {
		t.Errorf("without privacy: %q", got)
	}
}

// TestDecayOfAFoundStep: decay beside a step that the run finds is warned of, with two remedies
// that work; decay beside a number is not.
func TestDecayOfAFoundStep(t *testing.T) {
	p := &plan.Plan{
		ModelFields:  plan.ModelFields{Initial: plan.Given},
		LocalFields:  plan.LocalFields{StepAuto: 1},
		ServerFields: plan.ServerFields{ServerDecay: 0.03},
	}
	got := plancheck.Warnings(p)
	if len(got) != 1 || !strings.HasPrefix(got[0], "server_decay=0.03 ") {
		t.Fatalf("%q", got)
	}
	remedied := *p
	remedied.StepSize = 0.1
	if got := plancheck.Warnings(&remedied); got != nil {
		t.Errorf("with a step: %q", got)
	}
	remedied = *p
	remedied.ServerDecay = 0
	if got := plancheck.Warnings(&remedied); got != nil {
		t.Errorf("without decay: %q", got)
	}
}

// TestShortDeadline: who means seconds is told that they are milliseconds.
func TestShortDeadline(t *testing.T) {
	for deadline, want := range map[uint32]string{
		0: "", 1: "set deadline=1000.", 30: "set deadline=30000.", 99: "99 seconds", 100: "",
	} {
		p := &plan.Plan{
			ModelFields:  plan.ModelFields{Initial: plan.Given},
			RoundsFields: plan.RoundsFields{Deadline: deadline},
		}
		got := plancheck.Warnings(p)
		if len(got) > 1 || want == "" && got != nil || !strings.Contains(strings.Join(got, ""), want) {
			t.Errorf("deadline %d: %q, want %q", deadline, got, want)
		}
	}
}

// TestFewRounds: Warnings warns of a run that would end before any step moves the model.
func TestFewRounds(t *testing.T) {
	for _, tt := range []struct {
		rounds uint64
		auto   uint8
		step   float32
		want   string
	}{
		{0, 1, 0, ""},
		{5, 1, 0, "rounds=5 end before the model moves: with step=auto the first 5 rounds measure"},
		{6, 1, 0, ""},
		{5, 1, 0.1, ""},
		{5, 0, 0.1, ""},
	} {
		got := strings.Join(plancheck.Warnings(&plan.Plan{
			ModelFields: plan.ModelFields{Initial: plan.Given},
			LocalFields: plan.LocalFields{StepAuto: tt.auto, StepSize: tt.step},
			StopFields:  plan.StopFields{Rounds: tt.rounds},
		}), "")
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// TestWhatGroupsTell: Warnings says what the coordinator learns about devices in order to group
// them.
func TestWhatGroupsTell(t *testing.T) {
	for _, tt := range []struct {
		groups  uint8
		classes uint32
		want    string
	}{
		{grouping.Random, 0, ""},
		{grouping.Auto, 0, ""},
		{grouping.Sketch, 0, "64 slopes"},
		{grouping.Sketch, 10, "how many samples of each class"},
	} {
		p := &plan.Plan{
			ModelFields:  plan.ModelFields{Initial: plan.Given},
			GroupsFields: plan.GroupsFields{Groups: tt.groups, Classes: tt.classes},
		}
		got := strings.Join(plancheck.Warnings(p), "")
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("groups %v, classes %d: %q, want %q", tt.groups, tt.classes, got, tt.want)
		}
	}
}

// TestFewBits: a plan is warned of biased scalars unless its rule divides their length out.
func TestFewBits(t *testing.T) {
	for precision, want := range map[plan.Precision]string{plan.Single: "", plan.Half: "",
		plan.Int8: "", plan.Int4: "0.98 to 1.09", plan.Int2: "0.88 to 1.49"} {
		for rule, steps := range map[plan.ServerRule]bool{plan.ServerMean: true, plan.ServerSGD: true,
			plan.ServerMomentum: true, plan.ServerAdam: false, plan.ServerNormalized: false} {
			p := &plan.Plan{
				ModelFields:     plan.ModelFields{Initial: plan.Given},
				AggregateFields: plan.AggregateFields{Precision: precision},
				ServerFields:    plan.ServerFields{ServerRule: rule},
			}
			got := strings.Join(plancheck.Warnings(p), "")
			if told := steps && want != ""; told != (got != "") || told && !strings.Contains(got, want) {
				t.Errorf("%v with %v: %q, want %q: %t", precision, rule, got, want, told)
			}
		}
	}
}
