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
