package history

import (
	"log/slog"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire/survey"
)

// TestNotFound: while a run has no step, the history tells why devices found none.
func TestNotFound(t *testing.T) {
	var h History
	run := newRun(t)
	run.plan.StepAuto, run.plan.StepSize = 1, 0
	h.Lead(t.Context(), run, nil, slog.New(slog.DiscardHandler))
	if got := h.NotFound(); got != "" {
		t.Errorf("before a survey: %q", got)
	}
	for n, why := range []string{"first", "second"} {
		record(t, &h, report.Event{Kind: report.Surveyed, N: uint64(7 + n), Round: 5,
			Fields: []string{"mu", "step"}, Survey: survey.Result{Kind: "step", Why: why}})
	}
	record(t, &h, report.Event{Kind: report.Surveyed, N: 9, Round: 5, Fields: []string{"mu"},
		Survey: survey.Result{Kind: "mu", Value: 0.5, Why: "third"}})
	if got := h.NotFound(); got != "second" {
		t.Errorf("after a survey in vain: %q", got)
	}
	run.plan.StepSize = 2
	if got := h.NotFound(); got != "" {
		t.Errorf("with a step: %q", got)
	}
}

// TestSurveyed: the history tells the signal of the mu that devices found, and warnings of values
// that are still the run's.
func TestSurveyed(t *testing.T) {
	var h History
	h.Lead(t.Context(), newRun(t), nil, slog.New(slog.DiscardHandler))
	if s, warning := h.Surveyed(); s != (Signal{}) || warning != "" {
		t.Errorf("before a survey: %+v, %q", s, warning)
	}
	ask := func(n uint64, r survey.Result) {
		record(t, &h, report.Event{Kind: report.Surveyed, N: n, Fields: []string{r.Kind}, Survey: r})
	}
	ask(2, survey.Result{Kind: "mu", Value: 0.5, SignalToNoise: 0.5, LossesFactor: 5,
		Warning: "noisy"})
	ask(3, survey.Result{Kind: "step", Value: 0.1, Warning: "short"})
	if s, warning := h.Surveyed(); s != (Signal{0.5, 5}) || warning != "mu: noisy; step: short" {
		t.Errorf("after two surveys: %+v, %q", s, warning)
	}
	record(t, &h, report.Event{Kind: report.Changed, N: 4, Fields: []string{"mu"}})
	if s, warning := h.Surveyed(); s != (Signal{}) || warning != "step: short" {
		t.Errorf("after a change of mu: %+v, %q", s, warning)
	}
}
