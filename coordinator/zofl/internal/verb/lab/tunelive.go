package lab

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/coordinator/zofl/internal/livetune"
	"github.com/zofl/zofl/coordinator/zofl/internal/losses"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/fleet/tune"
)

// A tuneLive holds the flags of `zofl tune --run`.
type tuneLive struct {
	connect.Connection
	run     string
	factors []float32
}

// offline lists the flags of `zofl tune PLAN` that make no sense for a run in progress. live lists
// the flags that make sense only for a run in progress.
var (
	offline = append([]string{"out", "fields", "devices", "seed", "initial", "train"},
		losses.FlagNames...)
	live = append([]string{"url", "context", "factors"}, connect.FlagNames...)
)

func (l *tuneLive) flags(cmd *cobra.Command) {
	l.Connection.Flags(cmd)
	cmd.Flags().StringVar(&l.run, "run", "",
		"name of a run in progress, with --url: tune its step, and no plan")
	cmd.Flags().Float32SliceVar(&l.factors, "factors", []float32{1, 0.25, 4},
		"with --run: a `list` of factors on its step, one for each trial")
	cmd.Flags().Lookup("factors").DefValue = "1,0.25,4"
}

// check returns an error if the command would ignore a flag.
func (l *tuneLive) check(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cli.Usage(fmt.Errorf("--run %s: a run has its own plan: leave out %s", l.run, args[0]))
	}
	for _, factor := range l.factors {
		if !(factor > 0) || factor > 1e6 {
			return cli.Usage(fmt.Errorf("--factors %v: give numbers above 0", factor))
		}
	}
	if err := cli.CheckRun(l.run); err != nil {
		return err
	}
	return cli.Useless(cmd, "a run in progress has its own plan and devices", offline...)
}

// tuneRun tunes the step of a run in progress.
func (f *tuneFlags) tuneRun(cmd *cobra.Command) error {
	nc, err := f.live.Dial("zofl tune", connect.InboxOf(grant.Operator, f.live.run))
	if err != nil {
		return err
	}
	defer nc.Close()
	trials := uint64(0)
	bar := terminal.NewBar(os.Stderr, "trial", uint64(len(f.live.factors)))
	r, err := livetune.Run(cmd.Context(), livetune.Config{
		Conn: nc, Run: f.live.run, Factors: f.live.factors, Rounds: f.rounds, Queries: f.queries,
		Progress: func(t tune.Trial) { trials++; bar.Show(trials, fmt.Sprintf("step %.3g", t.Step)) },
		Waiting: func(what string) {
			if what != "" {
				fmt.Fprintln(os.Stderr, "zofl: the run waits:", what)
			}
		},
	})
	bar.Finish()
	if r == nil {
		return cli.Classify(err)
	}
	err = cmp.Or(err, f.storePlot(&r.Result))
	if f.asJSON {
		err = cmp.Or(err, f.encode(cmd.OutOrStdout(), &r.Result, r.Budget))
	} else {
		printTuned(cmd.OutOrStdout(), &r.Result, r.Budget)
	}
	return cli.Classify(err)
}
