package probe

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// A surveyed is a smooth loss in three forms, which notes the points at which the device asks.
type surveyed struct {
	dim     int
	batches []objective.Batch
	queries int
	f       func(x []float32) float64
}

func (o *surveyed) Dim() int { return o.dim }

func (o *surveyed) value(x []float32, b objective.Batch) float64 {
	o.queries++
	o.batches = append(o.batches, b)
	return o.f(x)
}

type surveyedFlat struct{ *surveyed }

func (o surveyedFlat) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	return o.value(x, b), nil
}

type surveyedStream struct{ *surveyed }

func (o surveyedStream) LossAt(_ context.Context, p *objective.Point, b objective.Batch) (float64,
	error) {
	x := make([]float32, o.dim)
	if err := p.Read(x, 0); err != nil {
		return 0, err
	}
	return o.value(x, b), nil
}

type surveyedBatched struct{ *surveyed }

func (o surveyedBatched) LossesAt(_ context.Context, points *objective.Points, b objective.Batch,
	losses []float64) error {
	dst := make([][]float32, points.Len())
	for i := range dst {
		dst[i] = make([]float32, o.dim)
	}
	if err := points.Read(dst, 0); err != nil {
		return err
	}
	for i, x := range dst {
		losses[i] = o.value(x, b)
	}
	return nil
}

// bowl is a loss that is infinite far from the start.
func bowl(x []float32) float64 {
	f := 0.0
	for i, v := range x {
		f += math.Sin(float64(i))*float64(v) + float64(v*v)
	}
	if f > 1e5 {
		return math.Inf(1)
	}
	return f
}

// A refusing loss gives errors where the loss of its form is infinite, as simulators refuse
// parameters out of range. If broken is set, a refusing loss always gives an error.
type refusing struct {
	flat, stream, batched objective.Objective
	broken                bool
	after                 bool     // the loss refuses nothing yet
	only                  *float64 // it gives an error unless its value is this one; nil: not so
}

var errRange = errors.New("parameter out of range")

func (r *refusing) Dim() int { return 40 }

func (r *refusing) check(losses ...float64) error {
	for _, f := range losses {
		if !r.after && (math.IsInf(f, 0) || r.broken || r.only != nil && f != *r.only) {
			return errRange
		}
	}
	return nil
}

type refusingFlat struct{ *refusing }

func (r refusingFlat) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	f, err := r.flat.(objective.Flat).Loss(ctx, x, b)
	return f, errors.Join(err, r.check(f))
}

type refusingStream struct{ *refusing }

func (r refusingStream) LossAt(ctx context.Context, p *objective.Point, b objective.Batch) (float64,
	error) {
	f, err := r.stream.(objective.Streaming).LossAt(ctx, p, b)
	return f, errors.Join(err, r.check(f))
}

type refusingBatched struct{ *refusing }

func (r refusingBatched) LossesAt(ctx context.Context, p *objective.Points, b objective.Batch,
	losses []float64) error {
	return errors.Join(r.batched.(objective.Batched).LossesAt(ctx, p, b, losses),
		r.check(losses...))
}

// TestSurveyOfALossThatRefuses: if a loss gives an error far from the model, the device answers as
// if the loss were infinite there. If the loss gives an error at the model, the device returns that
// error.
func TestSurveyOfALossThatRefuses(t *testing.T) {
	for _, kind := range []survey.Kind{survey.Mu, survey.Step} {
		for form := range surveyForms {
			var results [3]Result
			var errs [3]error
			for i := range results {
				o := &surveyed{dim: 40, f: bowl}
				r := newRefusing(o)
				r.broken = i == 2
				app := r.forms()[form]
				if i == 0 {
					app = surveyForms[form](o)
				}
				var s *stepper
				if kind == survey.Step {
					r.after = true
					s = normalizedRounds(t, app, 3)
					r.after = false
				} else {
					s = newStepper(t, app, 1, func(p *plan.Plan) { p.MuAuto, p.Mu = 1, 0 })
				}
				results[i], errs[i] = s.asks(t, kind, 3)
				results[i].Scalars = slices.Clone(results[i].Scalars)
			}
			if errs[0] != nil || errs[1] != nil || !sameBits(results[0].Scalars, results[1].Scalars) {
				t.Errorf("%v, %s: infinite gives %v, %v, and an error %v, %v", kind, form,
					results[0].Scalars, errs[0], results[1].Scalars, errs[1])
			}
			if !errors.Is(errs[2], errRange) {
				t.Errorf("%v, %s: an error at the model gives %v", kind, form, errs[2])
			}
		}
	}
}

func newRefusing(o *surveyed) *refusing {
	return &refusing{flat: surveyedFlat{o}, stream: surveyedStream{o}, batched: surveyedBatched{o}}
}

func (r *refusing) forms() map[string]objective.Objective {
	return map[string]objective.Objective{"flat": refusingFlat{r}, "stream": refusingStream{r},
		"batched": refusingBatched{r}}
}

// TestSurveyOfALossThatWorksAtTheModel: a loss that gives an error at all points but the model
// would do so in each round. The device returns that error, and the loss has not worked yet.
func TestSurveyOfALossThatWorksAtTheModel(t *testing.T) {
	for _, kind := range []survey.Kind{survey.Mu, survey.Step} {
		for form := range surveyForms {
			r := newRefusing(&surveyed{dim: 40, f: bowl})
			app := r.forms()[form]
			var s *stepper
			if kind == survey.Step {
				r.after = true
				s = normalizedRounds(t, app, 3)
				r.after = false
			} else {
				s = newStepper(t, app, 1, func(p *plan.Plan) { p.MuAuto, p.Mu = 1, 0 })
			}
			worked, model := s.c.Answered(), bowl(s.r.Params())
			r.only = &model
			_, err := s.asks(t, kind, 3)
			if !Failed(err) || !errors.Is(err, errRange) ||
				!strings.Contains(err.Error(), "at no point beside it") {
				t.Errorf("%v, %s: got %v", kind, form, err)
			}
			if s.c.Answered() != worked {
				t.Errorf("%v, %s: the loss counts as one that has worked", kind, form)
			}
		}
	}
}

// surveyForms are the forms of an objective.
var surveyForms = map[string]func(*surveyed) objective.Objective{
	"flat":    func(o *surveyed) objective.Objective { return surveyedFlat{o} },
	"stream":  func(o *surveyed) objective.Objective { return surveyedStream{o} },
	"batched": func(o *surveyed) objective.Objective { return surveyedBatched{o} },
}

// asks makes a stepper's device answer a survey of the open record.
func (s *stepper) asks(t *testing.T, k survey.Kind, slot uint32) (Result, error) {
	t.Helper()
	return s.c.Survey(s.ctx, s.r, k, s.r.N()+1, slot)
}

// A device whose loss at the model is not finite declines the survey, as it declines a round.
func TestSurveyOfALossThatIsNot(t *testing.T) {
	for _, tt := range []struct {
		loss float64
		says string
	}{
		{math.NaN(), "not finite: NaN"},
		{math.Inf(-1), "not finite: -Inf"},
		{1e300, "not finite in float32: 1e+300 at step 0, perturbation 0; return one below 3.4e+38"},
	} {
		for form, make := range surveyForms {
			o := &surveyed{dim: 4, f: func([]float32) float64 { return tt.loss }}
			s := newStepper(t, make(o), 1, func(p *plan.Plan) { p.MuAuto, p.Mu = 1, 0 })
			if _, err := s.asks(t, survey.Mu, 0); err == nil ||
				!strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: got %v, want %q", form, err, tt.says)
			}
		}
	}
}

// normalizedRounds makes a stepper of a plan with step=auto, after the given number of rounds with
// step size 0.
func normalizedRounds(t *testing.T, o objective.Objective, rounds int) *stepper {
	t.Helper()
	s := newStepper(t, o, 1, func(p *plan.Plan) {
		p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
		p.StepAuto, p.StepSize = 1, 0
		p.Segments = []plan.Segment{{Name: "a", Len: 10, StepScale: 4}, {Name: "b", Len: 30}}
	})
	s.record.Round.Factor = 1
	for range rounds {
		s.step(t)
	}
	return s
}

// A survey of the step has the losses along the averaged move. The answer is the same whatever form
// the objective has.
func TestSurveyOfStep(t *testing.T) {
	for form, make := range surveyForms {
		o := &surveyed{dim: 40, f: bowl}
		s := normalizedRounds(t, make(o), 3)
		o.queries, o.batches = 0, nil
		result, err := s.asks(t, survey.Step, 0)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if want := s.stepAnswer(); !sameBits(result.Scalars, want) {
			t.Errorf("%s: got %v, want %v", form, result.Scalars, want)
		}
		if result.Scalars[1] >= 0 || result.Loss != bowl(s.r.Params()) || o.queries != 17 {
			t.Errorf("%s: loss %v, then %v, in %d queries", form, result.Loss, result.Scalars[1],
				o.queries)
		}
		want := objective.Batch{N: 5, Step: 65535, Seed: plan.BatchSeed("bench", "d0", 5, 65535)}
		want.Size = int(s.r.Plan().Batch)
		if slices.ContainsFunc(o.batches, func(b objective.Batch) bool { return b != want }) {
			t.Errorf("%s: minibatches %v, want %v", form, o.batches, want)
		}
	}
}

// stepAnswer computes the answer from the definition.
func (s *stepper) stepAnswer() []float32 {
	base := bowl(s.r.Params())
	answer := []float32{float32(base)}
	for j := -10; j <= 5; j++ {
		x := make([]float32, len(s.r.Params()))
		s.r.Ahead(x, 0, float32(math.Pow(4, float64(j))))
		f := bowl(x) - base
		if math.IsInf(f, 0) {
			answer = append(answer, float32(math.Inf(1)))
			continue
		}
		answer = append(answer, float32(f))
	}
	return answer
}

// In a run with step=auto the result of a round has the slope along the momentum. The slope is
// positive if the loss still falls along the averaged move.
func TestSlopeOfARound(t *testing.T) {
	s := normalizedRounds(t, surveyedFlat{&surveyed{dim: 40, f: bowl}}, 3)
	result, err := s.run(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := s.r.Slope(s.a.N, result.Scalars, 0)
	if result.Slope != want || !(want > 0) {
		t.Errorf("slope %v, want %v, above 0", result.Slope, want)
	}
}
