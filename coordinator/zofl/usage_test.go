package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command has help that fits a terminal, and an example that names a command.
func TestHelp(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.Long == "" || !strings.Contains(cmd.Example, "zofl ") {
			t.Errorf("%s: no long help, or no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Long + "\n\n" + cmd.UsageString()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 {
				t.Errorf("%s: a line of %d columns: %q", cmd.CommandPath(), n, line)
			}
		}
		for _, odd := range []string{"-1ns", "1.000000"} { // defaults as Go writes them
			if strings.Contains(cmd.UsageString(), odd) {
				t.Errorf("%s: its help has %s", cmd.CommandPath(), odd)
			}
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(root())
}
