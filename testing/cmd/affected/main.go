// Affected lists the tests that a change can break, in all modules of the repository. It reads the
// changed files on stdin, one a line, by their path in the repository, and is what check.sh quick
// asks:
//
//	git diff --name-only --no-renames HEAD | go -C testing run ./cmd/affected
//
// It prints a line for each package that the change affects, tested or untested:
//
//	distance  module  package  tested  why
//
// The distance is 0 if a file of the package changed, 1 if the package imports a changed one, or if
// a path in a string of its code leads to a changed file, 2 if it imports one of those, and so on.
// The closest come first. The code of a package affects its importers; its tests and their data do
// not.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "affected:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, in io.Reader) error {
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	t, err := read(os.DirFS(strings.TrimSuffix(string(top), "\n")))
	if err != nil {
		return err
	}
	var files []string
	s := bufio.NewScanner(in)
	for s.Scan() {
		files = append(files, s.Text())
	}
	if s.Err() != nil {
		return s.Err()
	}
	for _, e := range t.affected(files) {
		tested := "untested"
		if e.tests {
			tested = "tested"
		}
		fmt.Fprintln(out, e.distance, e.module, e.path, tested, e.why)
	}
	return nil
}
