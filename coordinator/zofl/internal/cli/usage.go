package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zofl/zofl/plan"
)

// NoArguments returns an error if a command that takes only flags has arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usage(fmt.Errorf("unexpected argument %q; see %s --help", args[0],
			cmd.CommandPath()))
	}
	return nil
}

// Help makes `zofl help`. cobra's own help command prints help for unknown commands, and exits with
// 0.
func Help(root *cobra.Command) *cobra.Command {
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
				return Usage(fmt.Errorf("%s; see zofl --help", OneLine(err.Error())))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// helpWidth is the longest line of a command's help, in columns.
const helpWidth = 100

// WrapFlags breaks the help of all flags into lines. cobra's usage template could do so too, but a
// template links text/template, and adds 4 MB to the program.
func WrapFlags(cmd *cobra.Command) {
	names := 0 // the columns of the names, in front of the texts
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		kind, _ := pflag.UnquoteUsage(f)
		names = max(names, len("      --")+len(f.Name)+1+len(kind)+len("   "))
	})
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		// pflag appends the default value if it is not zero. Leave room for the default.
		room := ""
		switch f.DefValue {
		case "", "0", "0s", "false", "[]": // not appended
		default:
			room = strings.Repeat("\x00", len(fmt.Sprintf("(default %q)", f.DefValue)))
		}
		f.Usage = strings.TrimRight(Wrapped(f.Usage+" "+room, helpWidth-names), " \x00")
	})
	for _, c := range cmd.Commands() {
		WrapFlags(c)
	}
}

// Wrapped breaks a text between words into lines of at most width bytes.
func Wrapped(text string, width int) string {
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

// CauseOf returns an error about a file without the file's name.
func CauseOf(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// Given returns those of the named flags that are on the command line, with two dashes.
func Given(cmd *cobra.Command, names ...string) (flags []string) {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			flags = append(flags, "--"+name)
		}
	}
	return flags
}

// Useless returns an error if one of the named flags is on the command line. Its text gives the
// reason why the flag would do nothing.
func Useless(cmd *cobra.Command, reason string, names ...string) error {
	if flags := Given(cmd, names...); len(flags) > 0 {
		return Usage(fmt.Errorf("%s: %s", strings.Join(flags, ", "), reason))
	}
	return nil
}

// OneLine joins the lines of a text. In cobra's errors, suggestions are on lines of their own.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// CheckRun returns an error unless the text can be the name of a run.
func CheckRun(run string) error {
	if run == "" {
		return Usage(errors.New("--run is missing: give the name of the run"))
	}
	if err := plan.CheckName(run); err != nil {
		return Usage(fmt.Errorf("--run: %w", err))
	}
	return nil
}
