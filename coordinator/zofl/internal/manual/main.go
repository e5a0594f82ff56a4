// Command manual writes the pages for man and the completions for shells of all commands of zofl,
// from the commands themselves, into a directory laid out as /usr/share. SOURCE_DATE_EPOCH is the
// date of the pages. The program does not link what writes the pages.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1",
		Source: "zofl " + version.String(), Manual: "Zofl"}, pages)
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
// shows it as it is. No page names the library that wrote it.
func plain(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	if strings.Contains(cmd.Long, "\n") {
		cmd.Long = "```\n" + cmd.Long + "\n```"
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.Join(strings.Fields(f.Usage), " ") })
	for _, c := range cmd.Commands() {
		plain(c)
	}
}
