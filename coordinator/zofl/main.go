// Command zofl is the operator's program: it shows what Zofl does (demo),
// writes, explains and prices plans (plan), runs coordinators (serve), devices
// (client) and witnesses (follow), commands a running coordinator (status,
// pause, resume, stop, rollback), reads logs (log, verify, export), and measures
// what a device can do (bench).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/wire"
)

// Exit codes, beside 0.
const (
	exitFailure   = 1   // the command failed
	exitUsage     = 2   // the command line or a plan cannot be used
	exitAbsent    = 3   // no broker, or no coordinator of the run, answers
	exitCorrupt   = 4   // a log is damaged, or replicas disagree
	exitInterrupt = 130 // interrupted before it was done
)

// A usageError is one that the person at the keyboard can cure.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// An absentError says that nobody answers.
type absentError struct{ error }

func (e absentError) Unwrap() error { return e.error }

// A corruptError says that stored bytes are not what they must be.
type corruptError struct{ error }

func (e corruptError) Unwrap() error { return e.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	interrupted := ctx.Err() != nil
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "zofl:", err)
	os.Exit(exitCode(err, interrupted))
}

func exitCode(err error, interrupted bool) int {
	switch {
	case err == nil:
		return 0
	case interrupted:
		return exitInterrupt
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.As(err, new(absentError)):
		return exitAbsent
	case errors.As(err, new(corruptError)):
		return exitCorrupt
	}
	return exitFailure
}

// classify marks errors that have an exit code of their own, and leaves others
// as they are.
func classify(err error) error {
	var fault *wire.DecodeError
	for _, damage := range []error{runlog.ErrCorrupt, replica.ErrFork, replica.ErrOrder, replica.ErrObject} {
		if errors.Is(err, damage) {
			return corruptError{err}
		}
	}
	switch {
	case errors.Is(err, wire.ErrRunKey):
		return usageError{fmt.Errorf("%w: give --secret the file that zofl plan --secret made", err)}
	case errors.As(err, &fault):
		return corruptError{err}
	case errors.Is(err, runlog.ErrNoLog), errors.Is(err, bus.ErrNoResponders), errors.Is(err, operate.ErrNobody):
		return absentError{err}
	}
	return err
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "zofl",
		Short: "Train one model on many devices that can only evaluate it",
		Long: `Zofl trains one model on many devices that can only evaluate it.

Exit codes: 0 done; 1 failed; 2 a command line or plan that cannot be used; 3 no
broker, or no coordinator of the run, answers; 4 a log is damaged or replicas
disagree; 130 interrupted before it was done. serve, client and follow run until
they are stopped: SIGINT and SIGTERM end them cleanly, with 0.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	cmd.AddCommand(demoCommand(), planCommand(), serveCommand(), clientCommand(), followCommand(),
		logCommand(), verifyCommand(), exportCommand(), benchCommand())
	cmd.AddCommand(operatorCommands()...)
	return cmd
}
