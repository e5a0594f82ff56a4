// Command manual writes the pages for man and the completions for shells of all commands of zofl,
// from the commands themselves, into a directory laid out as /usr/share. SOURCE_DATE_EPOCH is the
// date of the pages. The program does not link what writes the pages.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/zofl/zofl/coordinator/zofl/internal/verb"
	"github.com/zofl/zofl/coordinator/zofl/version"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "manual: give a directory")
		os.Exit(2)
	}
	time.Local = time.UTC // of dates, wherever this runs
	if err := write(verb.Root(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write writes everything below a directory.
func write(root *cobra.Command, dir string) error {
	if err := completions(root, dir); err != nil {
		return err
	}
	pages := filepath.Join(dir, "man/man1")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	plain(root)
	header := &doc.GenManHeader{Section: "1", Source: "zofl " + version.String(), Manual: "Zofl"}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return err
	}
	return shorten(pages)
}

// nothing is the default of a flag that has none, as the library writes it.
var nothing = regexp.MustCompile(`\\fP(\[=false\]|=""|=\[\])`)

// shorten leaves out defaults that say nothing.
func shorten(pages string) error {
	names, err := filepath.Glob(filepath.Join(pages, "*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text = nothing.ReplaceAll(text, []byte(`\fP`))
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// completions writes what each shell of Debian loads when a user first completes zofl.
func completions(root *cobra.Command, dir string) error {
	for name, write := range map[string]func(file string) error{
		"bash-completion/completions/zofl": func(f string) error {
			return root.GenBashCompletionFileV2(f, true)
		},
		"zsh/vendor-completions/_zofl": root.GenZshCompletionFile,
		"fish/vendor_completions.d/zofl.fish": func(f string) error {
			return root.GenFishCompletionFile(f, true)
		},
	} {
		file := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), write(file))
		if err != nil {
			return err
		}
	}
	return nil
}

// plain prepares commands for pages: the text of the help is laid out for terminals, and a page
// shows it as it is, with the commands below. No page names the library that wrote it.
func plain(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	text := cmp.Or(cmd.Long, cmd.Short)
	for _, group := range append(cmd.Groups(), &cobra.Group{Title: "Commands:"}) {
		text += list(cmd, group)
	}
	if strings.Contains(text, "\n") {
		cmd.Long = "```\n" + text + "\n```"
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.Join(strings.Fields(f.Usage), " ") })
	for _, c := range cmd.Commands() {
		plain(c)
	}
}

// list returns the commands of a group, or of none, each in a line with what it is for.
func list(cmd *cobra.Command, group *cobra.Group) (text string) {
	for _, c := range cmd.Commands() {
		if c.GroupID == group.ID && c.IsAvailableCommand() {
			text += fmt.Sprintf("\n  %-12s %s", c.Name(), c.Short)
		}
	}
	if text != "" {
		text = "\n\n" + group.Title + text
	}
	return text
}
