package serve

import (
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/plan"
)

// A printer prints a coordinator's events: all of them as JSON, or some of them as log lines. A
// round changes a line in place on a terminal. Without a terminal, the printer logs a line about
// the last round every few seconds.
type printer struct {
	logger *slog.Logger
	live   *terminal.Live
	plan   func() plan.Plan // of the run, as it is now
	meter  terminal.Meter
	pace   terminal.Pace
	mu     sync.Mutex    // guards json, which two goroutines use
	json   *json.Encoder // nil: log lines
}

// newPrinter returns a printer of JSON to the command's output, or of log lines to the error
// output. With quiet it prints only warnings and errors. The caller closes live.
func newPrinter(cmd *cobra.Command, asJSON, quiet bool) *printer {
	p := &printer{live: terminal.NewLive(os.Stderr), pace: terminal.Pace{Every: terminal.LineEvery}}
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	if asJSON {
		p.json = json.NewEncoder(cmd.OutOrStdout())
	}
	format := cli.LogFormatOf(cmd)
	if asJSON || quiet || format.JSON {
		p.live = terminal.Still(os.Stderr)
	}
	p.logger = format.Logger(p.live, level)
	return p
}

// Record implements [report.Recorder].
func (p *printer) Record(e report.Event) error {
	if p.json != nil {
		out := eventOf(e)
		if e.Kind == report.Evaluated {
			out.Names = p.plan().Metrics
		}
		return p.encode(out)
	}
	switch e.Kind {
	case report.RoundDone:
		p.round(&e, time.Now())
	case report.Evaluated:
		p.meter.Evaluated(e.Evaluation.Metrics)
	case report.Joined:
		p.logger.Info("joined", "id", e.ID, "members", e.Members)
	case report.SteppedOut:
		p.logger.Info("stepped out", "id", e.ID, "reason", e.Reason, "seconds", e.Seconds,
			"present", e.Members)
	}
	return nil // the coordinator logs the other events
}

func (p *printer) round(e *report.Event, at time.Time) {
	plan := p.plan()
	p.meter.Rounds, p.meter.Metrics = plan.Rounds, plan.Metrics
	p.meter.Round(e.Round, at)
	p.meter.Lost(float64(e.Loss))
	p.meter.Took(e.Contributors, e.Asked)
	switch {
	case p.live.Moves():
		p.live.Set(p.meter.String())
	case p.pace.Due(at):
		p.logger.Info("round", append([]any{"record", e.N}, p.meter.Attrs()...)...)
	}
}

func (p *printer) encode(e event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.json.Encode(e)
}

// waiting prints what round 1 waits for.
func (p *printer) waiting(s *report.Status) error {
	if p.json != nil {
		return p.encode(event{Time: time.Now().UTC(), Event: "waiting", N: s.N, Waits: s.Waits})
	}
	p.logger.Info("waiting for devices: " + s.Waits)
	return nil
}
