package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/plancheck"
	"github.com/zofl/zofl/wire/planfile"
)

// noArguments returns an error if a command that takes only flags has arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q; see %s --help", args[0],
			cmd.CommandPath())}
	}
	return nil
}

// helpCommand makes `zofl help`. cobra's own prints help for unknown commands, and exits with 0.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help for a command",
		Long:    `Prints the help of a command, as --help does.`,
		Example: `  zofl help serve`,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("unknown command %q for %q", rest[0], cmd.CommandPath())
			}
			if err != nil {
				return usageError{fmt.Errorf("%s; see zofl --help", oneLine(err.Error()))}
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
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

// readPlanFile reads the plan in a file. Errors are usage errors, and say where in the file the
// JSON is wrong.
func readPlanFile(name string) (*wire.Plan, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, usageError{fmt.Errorf("plan %s: %w", name, causeOf(err))}
	}
	p, err := planfile.Read(bytes.NewReader(text))
	if err == nil {
		return p, nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line, column := position(text, syntax)
		return nil, usageError{fmt.Errorf("%s:%d:%d: %w: a plan is JSON, as zofl plan --write stores it",
			name, line, column, syntax)}
	}
	return nil, usageError{fmt.Errorf("%s: %w", name, plancheck.Explain(err))}
}

// causeOf returns why a file cannot be used, without its name.
func causeOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// position returns where a text is wrong, counting lines and characters from 1.
func position(text []byte, syntax *json.SyntaxError) (line, column int) {
	at := min(int(syntax.Offset), len(text)) // the bytes read, with the wrong one
	if at > 0 && !strings.HasPrefix(syntax.Error(), "unexpected end") {
		at--
	}
	before := text[:at]
	begin := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[begin:])
}

// asUsage marks errors of a plan as usage errors: whoever wrote the plan can correct it.
func asUsage(err error) error {
	if errors.As(err, new(*wire.PlanError)) {
		return usageError{err}
	}
	return err
}

// given returns those of the named flags that the command line has, with their dashes.
func given(cmd *cobra.Command, names ...string) (flags []string) {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			flags = append(flags, "--"+name)
		}
	}
	return flags
}

// useless returns an error if the command line has one of the named flags, which would do nothing
// for the reason given.
func useless(cmd *cobra.Command, reason string, names ...string) error {
	if flags := given(cmd, names...); len(flags) > 0 {
		return usageError{fmt.Errorf("%s: %s", strings.Join(flags, ", "), reason)}
	}
	return nil
}

// oneLine joins the lines of a text: cobra puts suggestions on lines of their own.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
