// Command zofl is the operator's program: it shows what Zofl does (demo) and
// writes, explains and prices plans (plan).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes, beside 0.
const (
	exitFailure   = 1 // the command failed
	exitUsage     = 2 // the command line or a plan cannot be used
	exitInterrupt = 130
)

// A usageError is one that the person at the keyboard can cure.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case err == nil:
	case interrupted:
		fmt.Fprintln(os.Stderr, "zofl: interrupted")
		os.Exit(exitInterrupt)
	case errors.As(err, new(usageError)):
		fmt.Fprintln(os.Stderr, "zofl:", err)
		os.Exit(exitUsage)
	default:
		fmt.Fprintln(os.Stderr, "zofl:", err)
		os.Exit(exitFailure)
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "zofl",
		Short: "Train one model on many devices that can only evaluate it",
		Long: `Zofl trains one model on many devices that can only evaluate it.

Exit codes: 0 done, 1 failed, 2 a command line or plan that cannot be used,
130 interrupted.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	cmd.AddCommand(demoCommand(), planCommand())
	return cmd
}
