package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zofl/zofl/plan/planfile"
)

// leastOf is the key of the annotation that holds the least number that a flag accepts.
const leastOf = "zofl-least"

// Positive marks the flag of a number that must not be 0, for [FlagValue].
func Positive(flags *pflag.FlagSet, name string) {
	flags.Lookup(name).Annotations = map[string][]string{leastOf: {"1"}}
}

// UnknownFlag returns an error that names the flag of a command that most resembles an unknown one.
// UnknownFlag returns other errors unchanged.
func UnknownFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if like := planfile.Nearest(unknown.GetSpecifiedName(), names); like != "" {
		err = fmt.Errorf("%w: did you mean --%s?", err, like)
	}
	return err
}

// FlagValue returns an error that says which number or time to give instead of a value that a flag
// refuses. The new text has no words of Go's packages. FlagValue returns other errors unchanged.
func FlagValue(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	flag, want := bad.GetFlag(), "a number"
	switch kind := flag.Value.Type(); {
	case kind == "duration":
		want = "a time with its unit, such as 3s"
	case !errors.As(err, new(*strconv.NumError)):
		return err
	case strings.HasPrefix(kind, "uint"):
		least := "0"
		if marked := flag.Annotations[leastOf]; len(marked) > 0 {
			least = marked[0]
		}
		want = "a whole number, " + least + " or more"
	case strings.HasPrefix(kind, "int"):
		want = "a whole number"
	case kind == "bool":
		want = "true or false"
	}
	return fmt.Errorf("--%s %s: give %s", flag.Name, bad.GetValue(), want)
}
