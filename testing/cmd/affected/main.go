// Affected lists the tests that a change can break, in all modules of the repository. It reads the
// changed files on stdin, one a line, by their path in the repository. check.sh quick runs it:
//
//	git diff --name-only --no-renames HEAD | go -C testing run ./cmd/affected
//
// Affected prints a line for each package that the change affects, tested or untested:
//
//	distance  module  package  tested  why
//
// The distance is 0 if a file of the package changed. The distance is 1 if the package imports a
// package at distance 0, or if a string in the package's code is a path to a changed file, and so
// on. The packages with the smallest distance come first. A change of a package's code affects its
// importers; a change of its tests and their data does not.
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
