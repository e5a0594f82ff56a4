// Typecheck checks that the packages and tests of modules compile for operating systems on which
// nothing here runs them. It checks types and makes no code, and of dependencies it reads only what
// they export. The arguments are the systems, and stdin has the modules' directories:
//
//	git ls-files '*go.mod' | xargs -n1 dirname | go -C testing run ./cmd/typecheck windows darwin
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	if err := run(os.Stdin, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, systems []string) error {
	if len(systems) == 0 {
		return errors.New("no operating system: give one or more as arguments, such as windows")
	}
	modules := 0
	for s := bufio.NewScanner(in); s.Scan(); modules++ {
		for _, system := range systems {
			if err := check(s.Text(), system); err != nil {
				return err
			}
		}
	}
	if modules == 0 {
		return errors.New("no module: give their directories, a line each, on stdin")
	}
	return nil
}

// check checks the packages of a module, and their tests, for one operating system.
func check(dir, system string) error {
	cfg := &packages.Config{
		Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		Tests: true,
	}
	roots, err := packages.Load(cfg, "./...")
	if err != nil {
		return fmt.Errorf("%s for %s: %w", dir, system, err)
	}
	if packages.PrintErrors(roots) > 0 {
		return fmt.Errorf("%s does not compile for %s", dir, system)
	}
	return nil
}
