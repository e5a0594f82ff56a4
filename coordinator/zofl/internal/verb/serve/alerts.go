package serve

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/alert"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// alertFlags say where alerts go.
type alertFlags struct {
	urls    []string
	command string
	after   time.Duration
	program []string // the command, split
}

func (a *alertFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&a.urls, "alert-url", nil,
		"`URL` that gets alerts as JSON, or @FILE with it; repeatable")
	f.StringVar(&a.command, "alert-command", "",
		"`command` to run for each alert, which it gets at standard input")
	f.DurationVar(&a.after, "alert-after", 10*time.Minute,
		"no round for so long is an alert; 0: it is none")
}

// check reads the flags.
func (a *alertFlags) check(cmd *cobra.Command) (err error) {
	for i := range a.urls {
		if a.urls[i], err = alert.ReadURL(a.urls[i]); err != nil {
			return cli.Usage(fmt.Errorf("--alert-url: %w", err))
		}
	}
	if len(cli.Given(cmd, "alert-command")) > 0 {
		if a.program, err = alert.SplitCommand(a.command); err != nil {
			return cli.Usage(fmt.Errorf("--alert-command %w", err))
		}
	}
	switch {
	case a.after < 0:
		return cli.Usage(fmt.Errorf("--alert-after %v: give a time, such as 10m, or 0", a.after))
	case !a.any():
		return cli.Useless(cmd, "no alert is sent: give --alert-url or --alert-command", "alert-after")
	}
	return nil
}

// any says whether alerts go anywhere.
func (a *alertFlags) any() bool { return len(a.urls)+len(a.program) > 0 }

// start starts to send the alerts of a run.
func (a *alertFlags) start(kept *history.History, logger *slog.Logger) *alert.Alerter {
	return alert.Start(alert.Config{URLs: a.urls, Command: a.program, After: a.after,
		Worse: kept.NoFall, Logger: logger})
}
