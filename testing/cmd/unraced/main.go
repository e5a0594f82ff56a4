// Unraced names the tests that do more without the race detector than with the race detector and
// -short: tests that reach testing.Short, and tests that use a declaration in a file that is built
// only with or only without the detector. check.sh runs these tests both ways, and all other tests
// only with the detector. Unraced reads packages and their directories from stdin, and prints a
// line for each such test:
//
//	go -C testing list -f '{{.ImportPath}} {{.Dir}}' ./... | go -C testing run ./cmd/unraced
//
//	package  test
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "unraced:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, in io.Reader) error {
	s := bufio.NewScanner(in)
	for s.Scan() {
		path, dir, ok := strings.Cut(s.Text(), " ")
		if !ok {
			return fmt.Errorf("line %q: want a package and its directory", s.Text())
		}
		p, err := read(dir)
		if err != nil {
			return err
		}
		for _, name := range p.unraced() {
			fmt.Fprintln(out, path, name)
		}
	}
	return s.Err()
}
