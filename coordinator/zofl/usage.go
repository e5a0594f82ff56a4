package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// flagWidth is where the help of a flag breaks lines, in columns, beside the flag's name.
const flagWidth = 70

// wrapFlags breaks the help of all flags into lines. cobra can do so by a usage template, but
// that links text/template, which adds 4 MB to the program.
func wrapFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		// pflag appends the default, if it is not zero: leave room for it.
		room := strings.Repeat("\x00", len(fmt.Sprintf("(default %q)", f.DefValue)))
		f.Usage = strings.TrimRight(wrapped(f.Usage+" "+room, flagWidth), " \x00")
		switch f.DefValue {
		case "", "0", "0s", "false", "[]": // not appended
			f.Usage = strings.TrimRight(f.Usage, "\n")
		}
	})
	for _, c := range cmd.Commands() {
		wrapFlags(c)
	}
}

// wrapped breaks a text between words into lines of at most width bytes.
func wrapped(text string, width int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// asUsage marks errors of a plan as usage errors: whoever wrote the plan can correct it.
func asUsage(err error) error {
	if errors.As(err, new(*wire.PlanError)) {
		return usageError{err}
	}
	return err
}
