package lab

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan"
)

// TestPrintTrials: steps have three digits, and a run that paused has not diverged.
func TestPrintTrials(t *testing.T) {
	var out strings.Builder
	printTrials(&out, &tune.Result{Plan: &plan.Plan{
		LocalFields: plan.LocalFields{StepAuto: 1},
	}, Field: "step", Trials: []tune.Trial{
		{Stage: "start", Loss: 1, Mu: 1e-4},
		{Stage: "survey", Step: 0.0512345678, Loss: math.Inf(1), Paused: true},
		{Stage: "refine", Step: 1234, Loss: math.Inf(1)},
	}})
	for _, want := range []string{"auto ", " 0.0512 ", " paused ", " 1.23e+03 ", " diverged ",
		" 0.0001 "} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("no %q, or more than one, in:\n%s", want, &out)
		}
	}
}

// TestChanges: a number for a step that devices would find keeps how it shrinks over the rounds.
func TestChanges(t *testing.T) {
	before := plan.Plan{
		ProbeFields: plan.ProbeFields{Perturbations: 5}, LocalFields: plan.LocalFields{StepAuto: 1},
	}
	after := before
	if got := changes(&before, &after); len(got) > 0 {
		t.Errorf("nothing changed: %q", got)
	}
	after.StepSize, after.Perturbations = 0.25, 10
	if got := changes(&before, &after); !slices.Equal(got, []string{"step=0.25", "step_auto=on",
		"perturbations=10"}) && !slices.Equal(got, []string{"perturbations=10", "step=0.25",
		"step_auto=on"}) {
		t.Errorf("%q", got)
	}
	before.Rounds, after.Rounds = 300, 157
	if got := changes(&before, &after); !slices.Contains(got, "rounds=157") {
		t.Errorf("rounds in place of 300: %q", got)
	}
}
