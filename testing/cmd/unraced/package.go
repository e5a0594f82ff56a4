package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A pkg is the declarations of a directory's files outside of functions. Methods count as a part of
// their type, because a test that calls a method names the method's type somewhere.
type pkg struct {
	uses  map[string][]string // by a declaration's name
	other map[string]bool     // declared in a file that is built for one of the two alone
	tests []string            // that are built without the detector
}

// short represents a call of testing.Short among the names that a declaration uses.
const short = "testing.Short"

var testName = regexp.MustCompile(`^(Test|Fuzz|Example)([^\p{Ll}].*)?$`)

// built reports whether the build without the race detector includes a file, and whether the build
// with the race detector does. Both builds are those of check.sh: the detector needs cgo.
func built(dir, file string) (plain, raced bool, err error) {
	c := build.Default
	c.CgoEnabled = false
	if plain, err = c.MatchFile(dir, file); err != nil {
		return false, false, err
	}
	c.CgoEnabled, c.BuildTags = true, []string{"race"}
	raced, err = c.MatchFile(dir, file)
	return plain, raced, err
}

func read(dir string) (*pkg, error) {
	p := &pkg{uses: map[string][]string{}, other: map[string]bool{}}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		plain, raced, err := built(dir, f.Name())
		if err != nil {
			return nil, err
		}
		if !plain && !raced {
			continue
		}
		if err := p.file(filepath.Join(dir, f.Name()), plain, plain != raced); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// file adds the declarations of a file.
func (p *pkg) file(name string, plain, other bool) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		return err
	}
	test := strings.HasSuffix(name, "_test.go")
	for _, d := range f.Decls {
		used := names(d, f.Scope)
		if !test && slices.Contains(used, short) {
			return fmt.Errorf("%s calls testing.Short, for tests of other packages perhaps: "+
				"call it in tests alone", name)
		}
		for _, n := range declared(d, f.Scope) {
			p.uses[n] = append(p.uses[n], used...)
			p.other[n] = p.other[n] || other
			if test && plain && testName.MatchString(n) && n != "TestMain" {
				p.tests = append(p.tests, n)
			}
		}
	}
	return nil
}

// declared returns the names that a declaration declares. For a method that is the name of its
// type.
func declared(d ast.Decl, file *ast.Scope) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		return names(d.Recv.List[0].Type, file)[:1]
	case *ast.GenDecl:
		var all []string
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					all = append(all, n.Name)
				}
			case *ast.TypeSpec:
				all = append(all, s.Name.Name)
			}
		}
		return all
	}
	return nil
}

// names returns the names of its own package that a node uses, as far as one file shows:
// identifiers that are neither local nor of a field, a method or another package, and short.
func names(n ast.Node, file *ast.Scope) []string {
	var all []string
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl: // without its name, which may be a method's
			all = append(all, names(n.Type, file)...)
			if n.Body != nil {
				all = append(all, names(n.Body, file)...)
			}
			return false
		case *ast.Ident:
			if n.Obj == nil || n.Obj == file.Lookup(n.Name) {
				all = append(all, n.Name)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name+"."+n.Sel.Name == short {
				all = append(all, short)
			}
			all = append(all, names(n.X, file)...)
			return false
		}
		return true
	})
	return all
}

// unraced returns the tests that reach testing.Short, or a declaration that only one of the two
// builds has. unraced ignores TestMain.
func (p *pkg) unraced() []string {
	seen := map[string]bool{}
	var differs func(name string) bool
	differs = func(name string) bool {
		if name == short || p.other[name] {
			return true
		}
		if seen[name] {
			return false
		}
		seen[name] = true
		return slices.ContainsFunc(p.uses[name], differs)
	}
	var found []string
	for _, t := range p.tests {
		clear(seen)
		if differs(t) {
			found = append(found, t)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
