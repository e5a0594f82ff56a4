package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/wire"
)

// Exit codes, beside 0.
const (
	exitFailure   = 1   // the command failed
	exitUsage     = 2   // the command line or the plan is wrong
	exitAbsent    = 3   // no broker, or no coordinator of the run, answers
	exitCorrupt   = 4   // a log is damaged, or replicas disagree
	exitInterrupt = 130 // interrupted before the command was done
)

// A usageError is an error that the person at the keyboard can correct.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// An absentError means that nobody answers.
type absentError struct{ error }

func (e absentError) Unwrap() error { return e.error }

// A corruptError means that stored bytes are wrong.
type corruptError struct{ error }

func (e corruptError) Unwrap() error { return e.error }

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

// classify marks errors that have an exit code of their own, and returns others unchanged.
func classify(err error) error {
	var fault *wire.DecodeError
	for _, damage := range []error{
		runlog.ErrCorrupt, replica.ErrFork, replica.ErrOrder, replica.ErrObject,
	} {
		if errors.Is(err, damage) {
			return corruptError{err}
		}
	}
	switch {
	case errors.Is(err, wire.ErrRunKey):
		return usageError{
			fmt.Errorf("%w: give the file that `zofl plan --secret` made, with --secret", err),
		}
	case errors.Is(err, source.ErrNoRecord):
		return usageError{fmt.Errorf("--at: %w", err)}
	case errors.As(err, &fault):
		return corruptError{err}
	case errors.Is(err, runlog.ErrNoLog), errors.Is(err, bus.ErrNoResponders),
		errors.Is(err, operate.ErrNobody):
		return absentError{err}
	}
	return err
}

// stopped returns nil if the error is only that the program was told to stop.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}
