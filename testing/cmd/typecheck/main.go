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
	"path/filepath"
	"runtime"
	"slices"
	"strings"

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
	var modules []string
	for s := bufio.NewScanner(in); s.Scan(); {
		dir, err := filepath.Abs(s.Text())
		if err != nil {
			return err
		}
		modules = append(modules, dir)
	}
	if len(modules) == 0 {
		return errors.New("no module: give their directories, a line each, on stdin")
	}
	dir, err := os.MkdirTemp("", "typecheck")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	work := filepath.Join(dir, "go.work")
	if err := os.WriteFile(work, workspace(modules), 0o666); err != nil {
		return err
	}
	for _, system := range systems {
		if err := check(modules, work, system); err != nil {
			return err
		}
	}
	return nil
}

// workspace returns the file of a workspace of the modules, so that what several of them import is
// read once.
func workspace(modules []string) []byte {
	b := []byte("go " + strings.TrimPrefix(runtime.Version(), "go") + "\n")
	for _, dir := range modules {
		b = fmt.Appendf(b, "use %q\n", dir)
	}
	return b
}

// check checks the packages of modules, and their tests, for one operating system.
func check(modules []string, work, system string) error {
	cfg := &packages.Config{
		Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedModule,
		Env:   append(os.Environ(), "GOWORK="+work, "GOOS="+system, "CGO_ENABLED=0"),
		Dir:   modules[0],
		Tests: true,
	}
	var all []string
	for _, dir := range modules {
		all = append(all, filepath.Join(dir, "..."))
	}
	roots, err := packages.Load(cfg, all...)
	if err != nil {
		return fmt.Errorf("for %s: %w", system, err)
	}
	if packages.PrintErrors(roots) > 0 {
		return fmt.Errorf("something does not compile for %s", system)
	}
	for _, dir := range modules {
		within := func(p *packages.Package) bool { return p.Module != nil && p.Module.Dir == dir }
		if !slices.ContainsFunc(roots, within) {
			return fmt.Errorf("%s has no packages", dir)
		}
	}
	return nil
}
