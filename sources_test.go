package zofl_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// importsOf returns the paths that a file imports.
func importsOf(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// sourceFiles returns the Go files of a folder of this module, without tests and nested
// modules, and reads them, so that the test cache depends on them. A folder without Go
// files fails the test.
func sourceFiles(t *testing.T, dir string) []string {
	t.Helper()
	files := slices.DeleteFunc(goFiles(t, dir),
		func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	if len(files) == 0 {
		t.Fatalf("got no Go files in %s, want some", dir)
	}
	return files
}

// goFiles is sourceFiles with tests.
func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(dir, path, entry.Name())
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		files = append(files, path)
		_, err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("got no Go files in %s, want some", dir)
	}
	return files
}

// skipFolder returns fs.SkipDir for a folder below dir that does not belong to the module.
func skipFolder(dir, path, name string) error {
	if path == dir {
		return nil
	}
	if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}
