package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// A tree is the Go code of a repository: the packages by their directory.
type tree map[string]*pkg

// A pkg is a directory of Go files, for all build tags.
type pkg struct {
	module string // the directory of its module
	path   string // the import path
	tests  bool   // it has tests
	embeds bool   // it embeds files
	// The imports, directories and files of the repository that strings of the package's code, or of
	// the package's tests, could name.
	code, test names
}

type names map[string]bool

// read reads all modules under root. read ignores the files that the go command ignores.
func read(root fs.FS) (tree, error) {
	t := tree{}
	modules := map[string]string{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignored(d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return modulePath(root, name, modules)
		case !strings.HasSuffix(name, ".go") || ignored(d.Name()):
			return nil
		}
		return t.add(root, name, modules)
	})
	return t, err
}

func ignored(name string) bool {
	return name == "testdata" || name != "." && (name[0] == '.' || name[0] == '_')
}

// modulePath notes the module path from the go.mod in dir, if dir has a go.mod.
func modulePath(root fs.FS, dir string, modules map[string]string) error {
	text, err := fs.ReadFile(root, path.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if name, ok := strings.CutPrefix(s.Text(), "module "); ok {
			modules[dir] = name
			return nil
		}
	}
	return fmt.Errorf("%s/go.mod names no module", dir)
}

// add adds a Go file to its package.
func (t tree) add(root fs.FS, name string, modules map[string]string) error {
	dir := path.Dir(name)
	p := t[dir]
	if p == nil {
		module, ok := up(dir, func(d string) bool { return modules[d] != "" })
		if !ok {
			return nil
		}
		p = &pkg{module: module, path: path.Join(modules[module], inside(module, dir))}
		p.code, p.test = names{}, names{}
		t[dir] = p
	}
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	into := p.code
	if strings.HasSuffix(name, "_test.go") {
		p.tests, into = true, p.test
	}
	p.embeds = p.embeds || bytes.Contains(text, []byte("\n//go:embed "))
	for _, s := range stringsOf(text) {
		into.add(s, dir, p.module)
	}
	return nil
}

// add adds the paths that s could name: a path may start at the package, at its module, or at the
// repository, where a command runs. "." is the whole repository.
func (n names) add(s, dir, module string) {
	if strings.ContainsAny(s, " \n:*%") || !strings.Contains(s, "/") && !extension(s) {
		return
	}
	n[s] = true
	if !strings.HasPrefix(s, ".") || extension(s) {
		return
	}
	n[path.Join(dir, s)] = true
	for _, base := range []string{module, "."} {
		if p := path.Join(base, s); p != "." {
			n[p] = true
		}
	}
}

// extension reports whether s is a file extension.
func extension(s string) bool {
	return len(s) > 1 && s[0] == '.' && !strings.ContainsAny(s[1:], "./")
}

// stringsOf returns the string literals of a Go file, up to the first syntax error: tests will
// report a file that does not compile.
func stringsOf(text []byte) []string {
	var all []string
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), text, func(token.Position, string) {}, 0)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return all
		}
		if tok == token.STRING {
			if v, err := strconv.Unquote(lit); err == nil {
				all = append(all, v)
			}
		}
	}
}

// up returns the first directory that ok accepts, of dir and the directories above dir.
func up(dir string, ok func(string) bool) (string, bool) {
	for {
		if ok(dir) {
			return dir, true
		}
		if dir == "." {
			return "", false
		}
		dir = path.Dir(dir)
	}
}

// inside is the path of dir from module on.
func inside(module, dir string) string {
	if module == "." {
		return dir
	}
	return strings.TrimPrefix(strings.TrimPrefix(dir, module), "/")
}
