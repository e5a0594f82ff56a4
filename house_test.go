package zofl_test

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// What a reader can hold at once. A package that outgrows it has two subjects.
const (
	mostLines  = 2500 // of code in a package, without tests, comments and blank lines
	mostNames  = 45   // exported by a package
	mostFields = 18   // of client.Client
)

// These are over a limit, and why.
const (
	// A name for each frame, field and choice of a plan, which refer to each other.
	wirePackage, mostWireNames = "wire", 231
	// A name for each event and state, which every recorder and screen refers to.
	reportPackage, mostReportNames = "coordinator/report", 50
	// A code for each of 26 errors, as gobind has no error values.
	errorsForApp = "client/mobile"
)

// packageFiles returns the source files of this module by their folders.
func packageFiles(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	for _, file := range sourceFiles(t, ".") {
		dir := filepath.Dir(file)
		files[dir] = append(files[dir], file)
	}
	if len(files) < 30 {
		t.Fatalf("%d packages, want all of this module", len(files))
	}
	return files
}

func TestPackageSizes(t *testing.T) {
	for dir, files := range packageFiles(t) {
		lines, names := 0, 0
		for _, file := range files {
			lines += codeLines(t, file)
			names += exportedNames(parse(t, file))
		}
		if lines > mostLines {
			t.Errorf("%s has %d lines of code, want at most %d: split it", dir, lines, mostLines)
		}
		most := mostNames
		switch dir {
		case wirePackage:
			most = mostWireNames
		case reportPackage:
			most = mostReportNames
		}
		if names > most && dir != errorsForApp {
			t.Errorf("%s exports %d names, want at most %d", dir, names, most)
		}
	}
}

// A client conducts its parts and keeps no state of theirs.
func TestClientFields(t *testing.T) {
	fields := 0
	ast.Inspect(parse(t, "client/client.go"), func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == "Client" {
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				fields += max(1, len(field.Names))
			}
		}
		return true
	})
	if fields == 0 || fields > mostFields {
		t.Errorf("client.Client has %d fields, want 1 to %d", fields, mostFields)
	}
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// codeLines counts the lines of a file that have more than a comment.
func codeLines(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set, lines := token.NewFileSet(), map[int]bool{}
	var s scanner.Scanner
	s.Init(set.AddFile(file, -1, len(text)), text, nil, 0)
	for {
		at, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // that a line end stands for
		}
		first := set.Position(at).Line
		for i := range 1 + strings.Count(literal, "\n") {
			lines[first+i] = true
		}
	}
}

// exportedNames counts what a file declares at its top for others.
func exportedNames(file *ast.File) (names int) {
	count := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names++
			}
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					count(s.Name)
				case *ast.ValueSpec:
					count(s.Names...)
				}
			}
		}
	}
	return names
}

// Whoever can call an exported function can name the types that it takes and returns.
func TestNamesOfOthers(t *testing.T) {
	for dir, files := range packageFiles(t) {
		if isInternal(filepath.ToSlash(dir)) {
			continue
		}
		for _, file := range files {
			parsed := parse(t, file)
			hidden := hiddenImports(t, parsed)
			for _, decl := range parsed.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() || f.Recv != nil && !isExportedReceiver(f.Recv) {
					continue
				}
				ast.Inspect(f.Type, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && hidden[s.X.(*ast.Ident).Name] {
						t.Errorf("%s: %s takes or returns %s.%s, which nobody outside can name",
							file, f.Name.Name, s.X, s.Sel)
					}
					return true
				})
			}
		}
	}
}

func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// hiddenImports are the names by which a file knows internal packages.
func hiddenImports(t *testing.T, file *ast.File) map[string]bool {
	t.Helper()
	hidden := map[string]bool{}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !isInternal(path) {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		hidden[name] = true
	}
	return hidden
}

func isExportedReceiver(recv *ast.FieldList) bool {
	exported := false
	ast.Inspect(recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !exported {
			exported = id.IsExported()
			return false
		}
		return true
	})
	return exported
}

// mostColumns is what a line of code may have, a tab counted as one; tools write what
// they like.
const mostColumns = 100

func TestLineLengths(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.ContainsAny(entry.Name()[:1], "._"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(text), "DO NOT EDIT.\n") {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if n := utf8.RuneCountInString(line); n > mostColumns &&
				!strings.HasPrefix(line, "//go:generate ") {
				t.Errorf("%s:%d has %d columns, want at most %d", path, i+1, n, mostColumns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("%d Go files, want those of all modules", files)
	}
}
