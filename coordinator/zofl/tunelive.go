package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/coordinator/zofl/internal/livetune"
	"github.com/zofl/zofl/fleet/tune"
)

// A tuneLive holds the flags of `zofl tune --run`.
type tuneLive struct {
	connection
	run     string
	factors []float32
}

// offline are the flags of `zofl tune PLAN` that a run in progress does not have, and live those
// that only it has.
var (
	offline = append([]string{"out", "fields", "clients", "seed", "initial", "train"},
		lossFlagNames...)
	live = append([]string{"url", "factors"}, connectionFlags...)
)

func (l *tuneLive) flags(cmd *cobra.Command) {
	l.connection.flags(cmd)
	cmd.Flags().StringVar(&l.run, "run", "",
		"name of a run in progress, with --url: tune its step, and no plan")
	cmd.Flags().Float32SliceVar(&l.factors, "factors", []float32{1, 0.25, 4},
		"with --run: a `list` of what its step is multiplied with in the trials")
}

// check returns an error if a flag would be ignored.
func (l *tuneLive) check(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("--run %s: a run has its own plan: leave out %s", l.run, args[0])}
	}
	for _, factor := range l.factors {
		if !(factor > 0) || factor > 1e6 {
			return usageError{fmt.Errorf("--factors %v: give numbers above 0", factor)}
		}
	}
	if err := checkRun(l.run); err != nil {
		return err
	}
	return useless(cmd, "a run in progress has its own plan and devices", offline...)
}

// tuneRun tunes the step of a run in progress.
func (f *tuneFlags) tuneRun(cmd *cobra.Command) error {
	nc, err := f.live.dial("zofl tune", inboxOf(grant.Operator, f.live.run))
	if err != nil {
		return err
	}
	defer nc.Close()
	trials := uint64(0)
	bar := newBar(os.Stderr, uint64(len(f.live.factors)))
	r, err := livetune.Run(cmd.Context(), livetune.Config{
		Conn: nc, Run: f.live.run, Factors: f.live.factors, Rounds: f.rounds, Queries: f.queries,
		Progress: func(t tune.Trial) { trials++; bar.show(trials, fmt.Sprintf("step %g", t.Step)) },
		Waiting: func(what string) {
			if what != "" {
				fmt.Fprintln(os.Stderr, "zofl: the run waits:", what)
			}
		},
	})
	bar.finish()
	if r == nil {
		return classify(err)
	}
	if plot := f.storePlot(&r.Result); err == nil {
		err = plot
	}
	if f.asJSON {
		if encoded := f.encode(cmd.OutOrStdout(), &r.Result, r.Budget); err == nil {
			err = encoded
		}
	} else {
		printTuned(cmd.OutOrStdout(), &r.Result, r.Budget)
	}
	return classify(err)
}
