package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan/planfile"
)

// printTuned prints the trials, as a table and a plot, and the reasons for the chosen settings.
func printTuned(out io.Writer, r *tune.Result, budget uint64) {
	if len(r.Trials) > 0 { // zofl tune --run may end before its first trial has
		printTrials(out, r)
	}
	plotSteps(out, r)
	fmt.Fprintln(out)
	for _, reason := range r.Reasons {
		fmt.Fprintln(out, cli.Wrapped(reason, cli.TextWidth))
	}
	fmt.Fprintf(out, "%d of %d loss evaluations were used.\n", r.Queries, budget)
}

// printTrials prints the table of trials.
func printTrials(out io.Writer, r *tune.Result) {
	t := cli.NewTable(out, "stage", "mu", r.Field, "P", "batch", "rounds", "evaluations",
		"loss at the end")
	for _, trial := range r.Trials {
		t.AppendRow(table.Row{trial.Stage, setting(trial.Mu, r.Plan.MuAuto),
			setting(trial.Step, r.Plan.StepAuto), trial.Perturbations, trial.Batch, trial.Rounds,
			trial.Queries, outcome(trial)})
	}
	t.Render()
}

// setting returns a mu or a step size as text. The value is 0 until devices have found it, and the
// text is then auto.
func setting(value float32, auto uint8) string {
	if value == 0 && auto > 0 {
		return "auto"
	}
	return fmt.Sprintf("%.3g", value)
}

// outcome says how a trial ended.
func outcome(t tune.Trial) string {
	switch {
	case t.Stage == "mu":
		return fmt.Sprintf("even part / odd part %.2g", t.Ratio)
	case t.Dropped:
		return "dropped"
	case t.Paused:
		return "paused"
	case math.IsInf(t.Loss, 1):
		return "diverged"
	}
	return fmt.Sprintf("%.4f", t.Loss)
}

// plotWidth is the length of the longest bar, in characters.
const plotWidth = 50

// plotSteps draws a bar for the loss of each step size, of the long trials if there are any. The
// loss of the initial parameters fills the width. An arrow marks a larger loss.
func plotSteps(out io.Writer, r *tune.Result) {
	for _, stage := range stepStages {
		trials := slices.DeleteFunc(slices.Clone(r.Trials), func(t tune.Trial) bool {
			return t.Stage != stage
		})
		if len(trials) < 2 {
			continue
		}
		slices.SortFunc(trials, func(a, b tune.Trial) int {
			return int(math.Copysign(1, float64(a.Step-b.Step)))
		})
		rounds := uint64(0)
		for _, t := range trials {
			rounds = max(rounds, t.Rounds)
		}
		fmt.Fprintf(out, "\nLoss by %s, after %s; %.4f at first:\n", r.Field,
			terminal.Count(rounds, "round"), r.Start)
		for _, t := range trials {
			line := fmt.Sprintf("  %10.4g  %-10s %s", t.Step, outcome(t), barOf(t, r.Start))
			fmt.Fprintln(out, strings.TrimRight(line, " "))
		}
	}
}

// barOf draws the loss of a trial.
func barOf(t tune.Trial, start float64) string {
	switch {
	case t.Dropped:
		return ""
	case !(t.Loss <= start):
		return strings.Repeat("█", plotWidth) + "→"
	case !(start > 0) || t.Loss < 0:
		return "" // a bar cannot show a loss below zero
	}
	return strings.Repeat("█", int(math.Round(plotWidth*t.Loss/start)))
}

// A TrialLine is the JSON of a trial. Its loss may be missing.
type TrialLine struct {
	Stage         string   `json:"stage"`
	Mu            float32  `json:"mu"`
	Step          float32  `json:"step"`
	Perturbations uint32   `json:"perturbations"`
	Batch         uint32   `json:"batch"`
	Rounds        uint64   `json:"rounds"`
	Queries       uint64   `json:"queries"`
	Loss          *float64 `json:"loss,omitempty"`
	Ratio         *float64 `json:"ratio,omitempty"`
	// SignalToNoise and LossesFactor, of stage mu, are those of a survey of mu.
	SignalToNoise float64 `json:"signal_to_noise,omitempty"`
	LossesFactor  float64 `json:"losses_factor,omitempty"`
	Outcome       string  `json:"outcome,omitempty"` // "diverged", "paused" or "dropped"
}

func lineOfTrial(t tune.Trial) TrialLine {
	line := TrialLine{Stage: t.Stage, Mu: t.Mu, Step: t.Step, Perturbations: t.Perturbations,
		Batch: t.Batch, Rounds: t.Rounds, Queries: t.Queries, Loss: finite(t.Loss)}
	if t.Stage == "mu" {
		line.Ratio = finite(t.Ratio)
		line.SignalToNoise, line.LossesFactor = t.SignalToNoise, t.LossesFactor
	} else if line.Loss == nil {
		line.Outcome = outcome(t)
	}
	return line
}

// encode prints the result as JSON.
func (f *tuneFlags) encode(out io.Writer, r *tune.Result, budget uint64) error {
	var trials []TrialLine
	for _, t := range r.Trials {
		trials = append(trials, lineOfTrial(t))
	}
	return json.NewEncoder(out).Encode(struct {
		Plan    *planfile.Plan `json:"plan"`
		Field   string         `json:"step_field"`
		Start   *float64       `json:"loss_before"`
		Loss    *float64       `json:"loss,omitempty"` // of the best trial
		Trials  []TrialLine    `json:"trials"`
		Reasons []string       `json:"reasons"`
		Queries uint64         `json:"queries"`
		Budget  uint64         `json:"budget"`
	}{(*planfile.Plan)(r.Plan), r.Field, finite(r.Start), finite(r.Loss), trials, r.Reasons,
		r.Queries, budget})
}

// finite returns v, or nil for a NaN or an infinity, which JSON cannot hold.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
