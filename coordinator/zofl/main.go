// Command zofl is the operator's program. It shows what Zofl does (demo), writes and explains plans
// (plan), simulates and tunes them (simulate, tune), runs coordinators (serve), devices (client;
// exec with a loss in any language) and witnesses (follow), shows and commands a running
// coordinator (watch, status, devices, pause, resume, stop, ...), reads logs (log, history,
// dashboard, verify, stats, export), and measures how fast this machine is (bench).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := execute(ctx, root())
	interrupted := ctx.Err() != nil
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "zofl:", terminal.PlainLines(err.Error()))
	os.Exit(cli.ExitCode(err, interrupted))
}

// execute runs a command. It marks a failure before the command begins, such as an unknown command,
// as a usage error.
func execute(ctx context.Context, cmd *cobra.Command) error {
	began, before := false, cmd.PersistentPreRun
	cmd.PersistentPreRun = func(cmd *cobra.Command, args []string) {
		began = true
		before(cmd, args)
	}
	err := cmd.ExecuteContext(ctx)
	if err == nil || began || errors.As(err, new(cli.UsageError)) {
		return err
	}
	return cli.Usage(fmt.Errorf("%s; see %s --help", cli.OneLine(err.Error()), cmd.CommandPath()))
}

func root() *cobra.Command { return verb.Root() }
