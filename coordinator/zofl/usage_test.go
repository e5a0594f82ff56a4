package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command has help that fits a terminal in width, and nearly in height, and an example that
// names a command.
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
		most := 46
		if !cmd.HasParent() {
			most = 68 // it lists the commands
		}
		if n := strings.Count(cmd.Long+"\n\n"+cmd.UsageString(), "\n"); n > most {
			t.Errorf("%s: its help has %d lines, want at most %d", cmd.CommandPath(), n, most)
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

// Flags of a connection are told once: in the help of a topic, which that of each command names
// under a heading.
// Shells still complete them everywhere.
func TestConnectionFlagsOnce(t *testing.T) {
	told := []string{"creds", "nkey", "tls-ca", "tls-cert", "tls-key", "tls-first", "plaintext",
		"context"}
	commands := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if help := cmd.UsageString(); cmd.Flags().Lookup("nkey") != nil && cmd.Name() != "connection" {
			commands++
			if strings.Contains(help, "--nkey") || strings.Count(help, "--url ") < 1 ||
				!strings.Contains(help, "\nConnection:\n      --url ") ||
				!strings.Contains(help, "see zofl help connection\n") {
				t.Errorf("%s: its help ends with %q", cmd.CommandPath(), help[max(0, len(help)-300):])
			}
			for _, name := range told {
				if f := cmd.Flags().Lookup(name); f == nil || f.Hidden {
					t.Errorf("%s: --%s is hidden from shells", cmd.CommandPath(), name)
				}
			}
		} else if strings.Contains(help, "zofl help connection") {
			t.Errorf("%s has no such flags", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	all := root()
	check(all)
	var topic strings.Builder
	all.SetOut(&topic)
	all.SetArgs([]string{"help", "connection"})
	if err := all.Execute(); err != nil || commands < 15 {
		t.Fatalf("%d commands, topic: %v", commands, err)
	}
	for _, name := range told {
		if !strings.Contains(topic.String(), "--"+name) {
			t.Errorf("the topic does not tell --%s", name)
		}
	}
}

// TestRemediesExist: a command that a text of the coordinator or of this program tells people to
// give is one.
func TestRemediesExist(t *testing.T) {
	told := regexp.MustCompile("`zofl ([a-z]+)")
	seen, commands := map[string]bool{}, root()
	commands.InitDefaultHelpCmd()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range told.FindAllSubmatch(text, -1) {
			name := string(found[1])
			if c, _, err := commands.Find([]string{name}); err != nil || c == commands {
				t.Errorf("%s: there is no zofl %s", path, name)
			}
			seen[name] = true
		}
		return err
	})
	if err != nil || len(seen) < 10 {
		t.Errorf("saw %d commands: %v", len(seen), err)
	}
}
