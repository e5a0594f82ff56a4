package zofl_test

import (
	"go/ast"
	"go/parser"
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

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
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
