package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/wire"
)

// noArguments returns an error if a command that takes only flags has arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q; see %s --help", args[0],
			cmd.CommandPath())}
	}
	return nil
}

// asUsage marks errors of a plan as usage errors: whoever wrote the plan can correct it.
func asUsage(err error) error {
	if errors.As(err, new(*wire.PlanError)) {
		return usageError{err}
	}
	return err
}
