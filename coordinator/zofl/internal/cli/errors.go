// Package cli has the parts that all commands of zofl share: errors with exit codes, the checks of
// flags and their help, the files that flags name, tables, and the bar of long commands.
package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Exit codes, beside 0.
const (
	ExitFailure   = 1   // the command failed
	ExitUsage     = 2   // the command line or the plan is wrong
	ExitAbsent    = 3   // no broker, or no coordinator of the run, answers
	ExitCorrupt   = 4   // a log is damaged, or replicas disagree
	ExitInterrupt = 130 // interrupted before the command was done
)

// A UsageError is an error that the person at the keyboard can correct.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage marks an error as one that the person at the keyboard can correct.
func Usage(err error) error { return UsageError{err} }

// An AbsentError means that no coordinator or device answers.
type AbsentError struct{ error }

func (e AbsentError) Unwrap() error { return e.error }

// Absent marks an error as an AbsentError.
func Absent(err error) error { return AbsentError{err} }

// A CorruptError means that stored bytes are wrong.
type CorruptError struct{ error }

func (e CorruptError) Unwrap() error { return e.error }

// Corrupt marks an error as a CorruptError.
func Corrupt(err error) error { return CorruptError{err} }

// ExitCode returns the exit code of a command that ended with err.
func ExitCode(err error, interrupted bool) int {
	switch {
	case err == nil:
		return 0
	case interrupted:
		return ExitInterrupt
	case errors.As(err, new(UsageError)):
		return ExitUsage
	case errors.As(err, new(AbsentError)):
		return ExitAbsent
	case errors.As(err, new(CorruptError)):
		return ExitCorrupt
	}
	return ExitFailure
}

// Classify marks an error of a kind that has its own exit code. Classify returns other errors
// unchanged.
func Classify(err error) error {
	var fault *wire.DecodeError
	for _, damage := range []error{
		runlog.ErrCorrupt, replica.ErrFork, replica.ErrOrder, replica.ErrObject,
	} {
		if errors.Is(err, damage) {
			return Corrupt(err)
		}
	}
	switch {
	case errors.Is(err, plan.ErrRunKey):
		return Usage(
			fmt.Errorf("%w: give the file that `zofl plan --secret` made, with --secret", err),
		)
	case errors.Is(err, source.ErrNoRecord):
		return Usage(fmt.Errorf("--at: %w", err))
	case errors.As(err, &fault):
		return Corrupt(err)
	case errors.Is(err, operate.ErrDenied):
		return Usage(err)
	case errors.Is(err, runlog.ErrNoLog), errors.Is(err, runlog.ErrUnavailable),
		errors.Is(err, bus.ErrNoResponders),
		errors.Is(err, operate.ErrNobody), errors.Is(err, operate.ErrSilent):
		return Absent(err)
	}
	return err
}

// Stopped returns nil if err only says that a signal or the caller stopped the program.
func Stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}
