package contribution_test

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/contribution"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

var nan, inf = float32(math.NaN()), float32(math.Inf(1))

func replyOf(loss float32, values ...float32) *wire.Reply {
	return &wire.Reply{Kind: wire.Contribution, Loss: loss, Values: wire.AppendScalars(nil, values...)}
}

// TestScalars: the Checker reads contributions that may be summed, and counts every other
// contribution.
func TestScalars(t *testing.T) {
	var n report.Counters
	p := &plan.Plan{AggregateFields: plan.AggregateFields{MaxScalar: 9}}
	for _, test := range []struct {
		name  string
		desk  contribution.Checker
		reply *wire.Reply
		fault *uint64
	}{
		{"two blocks", contribution.Checker{}, replyOf(1, 1, 2, 3, -9), nil},
		{"a scalar too few", contribution.Checker{}, replyOf(1, 1, 2, 3), &n.WrongCount},
		{"none", contribution.Checker{}, replyOf(1), &n.WrongCount},
		{"where there are vectors", contribution.Checker{None: true}, replyOf(1, 1, 2, 3, 4),
			&n.WrongCount},
		{"above max_scalar", contribution.Checker{}, replyOf(1, 1, 2, 3, -9.5), &n.TooLarge},
		{"a NaN", contribution.Checker{}, replyOf(1, 1, 2, nan, 4), &n.NonFinite},
		{"an infinity", contribution.Checker{}, replyOf(1, 1, 2, inf, 4), &n.NonFinite},
		{"a loss that is none", contribution.Checker{}, replyOf(nan, 1, 2, 3, 4), &n.NonFinite},
		{"without a slope", contribution.Checker{Plan: &plan.Plan{
			LocalFields: plan.LocalFields{StepAuto: 1}, AggregateFields: plan.AggregateFields{MaxScalar: 9},
		}},
			replyOf(1, 1, 2, 3, 4), &n.WrongSurvey},
	} {
		var values []float32
		if test.desk.Counters = &n; test.desk.Plan == nil {
			test.desk.Plan = p
		}
		if got := test.desk.Scalars(&values, test.reply, 2, 2); got != test.fault {
			t.Errorf("%s: another fault than its own", test.name)
		}
		if test.fault == nil && (len(values) != 4 || values[3] != -9) {
			t.Errorf("%s: read %v", test.name, values)
		}
	}
}

// TestSurvey: losses far from the model may be infinite, but slopes of a sketch may not.
func TestSurvey(t *testing.T) {
	var n report.Counters
	desk := contribution.Checker{Plan: &plan.Plan{
		AggregateFields: plan.AggregateFields{MaxScalar: 9},
	}, Counters: &n}
	answer := func(kind survey.Kind, first, last float32) *wire.Reply {
		values := make([]float32, kind.Values())
		values[0], values[len(values)-1] = first, last
		r := replyOf(1, values...)
		r.Rest = survey.Answer(kind)
		return r
	}
	for _, test := range []struct {
		name  string
		kind  survey.Kind // that is asked
		reply *wire.Reply
		fault *uint64
	}{
		{"losses", survey.Step, answer(survey.Step, 1, 2), nil},
		{"an infinite loss far away", survey.Step, answer(survey.Step, 1, inf), nil},
		{"an infinite loss", survey.Step, answer(survey.Step, inf, 1), &n.NonFinite},
		{"an infinite slope", survey.Sketch, answer(survey.Sketch, 1, inf), &n.NonFinite},
		{"a slope above max_scalar", survey.Sketch, answer(survey.Sketch, 1, 10), &n.TooLarge},
		{"a sketch", survey.Sketch, answer(survey.Sketch, 1, 9), nil},
		{"another kind", survey.Mu, answer(survey.Step, 1, 2), &n.WrongSurvey},
		{"scalars", survey.Step, replyOf(1, 1), &n.WrongSurvey},
	} {
		var values []float32
		if got := desk.Survey(&values, test.reply, test.kind); got != test.fault {
			t.Errorf("%s: another fault than its own", test.name)
		}
	}
}

// TestVector: a vector must have its digest, and only numbers that may be summed.
func TestVector(t *testing.T) {
	var n report.Counters
	desk := contribution.Checker{Plan: &plan.Plan{
		AggregateFields: plan.AggregateFields{MaxScalar: 9},
	}, Counters: &n}
	for v, fault := range map[float32]*uint64{9: nil, -10: &n.TooLarge, inf: &n.NonFinite} {
		data := wire.AppendScalars(nil, 1, v)
		if desk.Vector(&wire.Upload{Digest: wire.HashObject(data)}, data) != fault {
			t.Errorf("a vector with %v: another fault than its own", v)
		}
	}
	if desk.Vector(&wire.Upload{}, wire.AppendScalars(nil, 1)) != &n.WrongDigest {
		t.Error("a vector of another digest is taken")
	}
}

// TestControl: a control variate must be along a record that can have one, and a second phase needs
// one.
func TestControl(t *testing.T) {
	var n report.Counters
	desk := contribution.Checker{Plan: &plan.Plan{
		AggregateFields: plan.AggregateFields{MaxScalar: 9},
	}, Counters: &n}
	two := func(n uint64) (int, bool) { return 2, n == 5 }
	with := func(n uint64, scalars ...float32) *wire.Reply {
		v := wire.ControlVariate{N: n, Scalars: wire.AppendScalars(nil, scalars...)}
		return &wire.Reply{N: 9, Rest: v.Append(nil)}
	}
	for _, test := range []struct {
		name  string
		reply *wire.Reply
		phase uint8
		n     uint64
		fault *uint64
	}{
		{"none", &wire.Reply{}, 0, 0, nil},
		{"none in phase 2", &wire.Reply{}, 2, 0, &n.WrongControl},
		{"of record 5", with(5, 1, -9), 2, 5, nil},
		{"of record 6", with(6, 1, 2), 0, 6, &n.WrongControl},
		{"of three scalars", with(5, 1, 2, 3), 0, 5, &n.WrongControl},
		{"above max_scalar", with(5, 1, 10), 0, 5, &n.WrongControl},
		{"a NaN", with(5, nan, 1), 0, 5, &n.WrongControl},
	} {
		var values []float32
		v, fault := desk.Control(&values, test.reply, test.phase, two)
		if v.N != test.n || fault != test.fault {
			t.Errorf("%s: record %d, want %d, or another fault than its own", test.name, v.N, test.n)
		}
		if test.n > 0 && test.fault == nil && (len(values) != 2 || values[1] != -9) {
			t.Errorf("%s: read %v", test.name, values)
		}
	}
}
