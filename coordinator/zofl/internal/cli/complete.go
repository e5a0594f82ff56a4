package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choices is the annotation with the values of a flag that shells complete.
const choices = "zofl_choices"

// A Chooser is the value of a flag that knows what it may be.
type Chooser interface {
	pflag.Value
	Choices() []string // what shells complete
}

// Choices makes shells complete the values of a flag.
func Choices(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.Flags().SetAnnotation(flag, choices, values); err != nil {
		panic("zofl: internal error: " + err.Error()) // no such flag
	}
}

// offer gives cobra the values of all flags of a command and of the commands below it. Cobra keeps
// them, and with them the commands, until the process ends. So only a shell's request calls offer:
// a process may make many commands, as the tests do.
func offer(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		values, has := f.Annotations[choices]
		if c, ok := f.Value.(Chooser); ok {
			values, has = c.Choices(), true
		}
		if !has {
			return
		}
		list := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
		if err := cmd.RegisterFlagCompletionFunc(f.Name, list); err != nil {
			panic("zofl: internal error: " + err.Error()) // called twice
		}
	})
	for _, c := range cmd.Commands() {
		offer(c)
	}
}

// Completion adds `zofl completion`, with a command for each shell, and answers shells.
func Completion(root *cobra.Command) {
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if cmd.Name() == cobra.ShellCompRequestCmd {
			offer(root)
		}
	}
	root.InitDefaultCompletionCmd()
	examples := map[string]string{
		"completion": "  zofl completion bash",
		"bash":       "  source <(zofl completion bash)",
		"zsh":        "  source <(zofl completion zsh)",
		"fish":       "  zofl completion fish | source",
		"powershell": "  zofl completion powershell | Out-String | Invoke-Expression",
	}
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Example = examples[c.Name()]
		// NoArguments reports an unknown shell as an error. Otherwise cobra would print the help.
		c.Args, c.RunE = NoArguments, func(c *cobra.Command, _ []string) error { return c.Help() }
		for _, shell := range c.Commands() {
			shell.Example, shell.Long = examples[shell.Name()], strings.TrimSpace(shell.Long)
		}
	}
}
