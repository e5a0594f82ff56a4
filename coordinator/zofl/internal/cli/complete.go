package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Choices makes shells complete the values of a flag.
func Choices(cmd *cobra.Command, flag string, values ...string) {
	list := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, list); err != nil {
		panic("zofl: internal error: " + err.Error()) // no such flag, or called twice for it
	}
}

// Completion adds `zofl completion`, with a command for each shell.
func Completion(root *cobra.Command) {
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
