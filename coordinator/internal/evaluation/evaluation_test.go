package evaluation

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// An evaluator reports a metric and a number of samples.
type evaluator struct {
	accuracy float32
	samples  uint32
}

// evaluate makes all devices of a roster evaluate the state after record n.
func evaluate(t *testing.T, e *Evaluation, p *plan.Plan, n uint64, from []evaluator) string {
	t.Helper()
	var c report.Counters
	e.Begin(n, wire.Tip{1}, 1)
	e.Ask(p, n, wire.Cohort{Sampled: uint64(len(from)), Members: uint32(len(from))})
	for i, v := range from {
		r := wire.Reply{Kind: wire.Evaluation, N: n, Tip: wire.Tip{1}, Weight: v.samples,
			Values: wire.AppendScalars(nil, v.accuracy)}
		e.Take(p, presence.Device{Slot: uint32(i), ID: fmt.Sprint("d", i)}, &r, &c)
	}
	if c.Evaluations != uint64(len(from)) {
		t.Fatalf("%d evaluations were counted, want %d: %+v", c.Evaluations, len(from), c)
	}
	e.Weigh(p)
	return e.Reached(p)
}

func evaluationPlan(evaluators uint32) *plan.Plan {
	return &plan.Plan{
		Run:              "r",
		RobustFields:     plan.RobustFields{ClaimBound: 4},
		EvaluationFields: plan.EvaluationFields{EvalCount: evaluators, Metrics: []string{"accuracy"}},
		StopFields:       plan.StopFields{StopMetric: "accuracy", StopWhen: plan.Above, StopValue: 0.9},
	}
}

// TestOneEvaluatorDoesNotEndARun has one device of ten claim an accuracy of 0.97 on 2^20 samples in
// each evaluation, while the other devices report 0.1 on 1000 samples.
func TestOneEvaluatorDoesNotEndARun(t *testing.T) {
	from := []evaluator{{0.97, 1 << 20}}
	for range 9 {
		from = append(from, evaluator{0.1, 1000})
	}
	p, e := evaluationPlan(10), &Evaluation{}
	for n := range uint64(5) {
		if text := evaluate(t, e, p, n+1, from); text != "" {
			t.Fatalf("record %d: %s", n+1, text)
		}
		want := (4000*0.97 + 9000*0.1) / 13_000
		if got := e.Sum.Means()[0]; math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("mean %v, want %v", got, want)
		}
	}
}

// TestGoalTwiceInARow: a run ends only if the median reaches the goal in two evaluations in a row.
// With an even number of evaluators, the middle value that is farther from the goal counts.
func TestGoalTwiceInARow(t *testing.T) {
	good, bad := evaluator{0.95, 10}, evaluator{0.5, 10}
	rounds := []struct {
		from  []evaluator
		ended bool
	}{
		{[]evaluator{good, good, bad}, false},
		{[]evaluator{good, bad, bad}, false},
		{[]evaluator{good, good, bad}, false},
		{[]evaluator{good, bad}, false},
		{[]evaluator{good, good}, false},
		{[]evaluator{good, good}, true},
	}
	p, e := evaluationPlan(3), &Evaluation{}
	for i, r := range rounds {
		text := evaluate(t, e, p, uint64(i)+1, r.from)
		if (text != "") != r.ended || r.ended && !strings.Contains(text, "after record 6") {
			t.Errorf("evaluation %d: %q, ended should be %v", i, text, r.ended)
		}
	}
	p.StopWhen, p.StopValue, e = plan.Below, 0.6, &Evaluation{}
	for n := range uint64(3) {
		if text := evaluate(t, e, p, n+1, []evaluator{good, bad}); text != "" {
			t.Errorf("one evaluator of two: %s", text)
		}
	}
}

// TestGoalOfPlansWithoutBound: plans from before claims were bounded end as they did then.
func TestGoalOfPlansWithoutBound(t *testing.T) {
	p, e := evaluationPlan(2), &Evaluation{}
	p.ClaimBound = 0
	if evaluate(t, e, p, 1, []evaluator{{0.95, 1000}, {0.1, 1}}) == "" {
		t.Error("the weighted mean reached the goal, and the run goes on")
	}
}

// TestBoundDuringEvaluation changes the plan between the answers and their end.
func TestBoundDuringEvaluation(t *testing.T) {
	p, e := evaluationPlan(2), &Evaluation{}
	p.ClaimBound = 0
	evaluate(t, e, p, 1, []evaluator{{0.95, 1000}, {0.95, 1}})
	p.ClaimBound = 4
	if e.Weigh(p); e.Reached(p) != "" || e.Sum.Weight != 1001 {
		t.Errorf("weight %d, want what was counted, and no goal", e.Sum.Weight)
	}
}
