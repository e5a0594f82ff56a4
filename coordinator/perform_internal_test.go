package coordinator

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire/survey"
)

// TestSurveyInTheLog: a log message shows a value that devices found with the same digits as the
// plan.
func TestSurveyInTheLog(t *testing.T) {
	for value, want := range map[float32]string{
		0.01: "0.01", 1e-6: "1e-06", 100: "100", 0: "0", 3.4e38: "3.4e+38",
	} {
		var out bytes.Buffer
		c := &Coordinator{cfg: Config{Logger: slog.New(slog.NewTextHandler(&out, nil))}}
		c.log(&report.Event{Kind: report.Surveyed, N: 2,
			Survey: survey.Result{Kind: "mu", Answers: 3, Value: value, Why: "it is straight"}})
		if !strings.Contains(out.String(), "of=mu devices=3 chosen="+want+` why="it is straight"`) {
			t.Errorf("%v: %s", value, out.String())
		}
	}
	for _, kind := range []string{"sketch", "groups"} { // which find no value
		var out bytes.Buffer
		c := &Coordinator{cfg: Config{Logger: slog.New(slog.NewTextHandler(&out, nil))}}
		c.log(&report.Event{Kind: report.Surveyed, N: 2,
			Survey: survey.Result{Kind: kind, Answers: 3, Why: "they cancel"}})
		if !strings.Contains(out.String(), "of="+kind+` devices=3 why="they cancel"`) {
			t.Errorf("%s: %s", kind, out.String())
		}
	}
}
