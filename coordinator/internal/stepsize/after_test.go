package stepsize_test

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/stepsize"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// TestStepAfter: with step_after devices look for the step after as many rounds, and if they look
// in vain, after the next of 5, 10, 20 rounds.
func TestStepAfter(t *testing.T) {
	for _, test := range []struct {
		after  uint32
		rounds uint64
		search runlog.Search
		want   survey.Kind
	}{
		{1, 0, runlog.Search{}, survey.None}, {1, 1, runlog.Search{Idle: true}, survey.Step},
		{1, 1, runlog.Search{Failed: true}, survey.None},
		{1, 2, runlog.Search{Idle: true}, survey.None}, {1, 5, runlog.Search{Idle: true}, survey.Step},
		{1, 10, runlog.Search{Idle: true}, survey.Step}, {1, 3, runlog.Search{}, survey.Step},
		{7, 5, runlog.Search{Idle: true}, survey.None}, {7, 7, runlog.Search{Idle: true}, survey.Step},
		{7, 10, runlog.Search{Idle: true}, survey.Step}, {0, 1, runlog.Search{Idle: true}, survey.None},
	} {
		p := plan.Plan{LocalFields: plan.LocalFields{StepAuto: 1, StepAfter: test.after}}
		if got := stepsize.Due(&p, test.rounds, test.search); got != test.want {
			t.Errorf("step_after=%d, %d rounds, %+v: %v is due, want %v", test.after, test.rounds,
				test.search, got, test.want)
		}
	}
}

// TestLawAfter: with step_after the first move is all of a*, the following ones begin with 0.4 of
// it, and G changes from the second move on. A step that a person sets meanwhile begins with that,
// too.
func TestLawAfter(t *testing.T) {
	p := lawPlan(2)
	p.StepAfter = 1
	for name, test := range map[string]struct {
		before float32 // the step of round 1
		slope  float64
		want   [4]float64 // the steps of rounds 2 to 5, as multiples of a*/sqrt(1 + n/30)
	}{
		"level":   {0, 0, [4]float64{1, 0.4, 0.4, 0.4}},
		"falling": {0, 1, [4]float64{1, 0.4 * math.Exp(0.05*0.15), 0, 0}},
		"given":   {0.8, 0, [4]float64{0.4, 0.4, 0.4, 0.4}},
	} {
		var law stepsize.Law
		past := stepsize.Past{Step: test.before, Round: 1}
		for i, want := range test.want {
			n := uint64(1 + i)
			step := law.Next(p, past, n+1, oneTerm, nil, []float64{test.slope})
			want *= 2 / math.Sqrt(1+float64(n)/30)
			if want > 0 && math.Abs(float64(step)/want-1) > 1e-5 {
				t.Errorf("%s: step %v of round %d, want %v", name, step, n+1, want)
			}
			past = stepsize.Past{Step: step, Round: n + 1}
		}
	}
}
