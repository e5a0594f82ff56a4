package zofl_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostSynopsis bounds the sentence with which a package's comment begins.
const mostSynopsis = 270

// A folder says by its name what lives there, and its package's comment in one sentence: there is
// no other list of the packages. So every package of every module is named like its folder, and
// has one comment, in one of its files.
func TestPackageComments(t *testing.T) {
	folders := map[string][]string{}
	for _, file := range everyGoFile(t) {
		if !strings.HasSuffix(file, "_test.go") {
			folders[filepath.Dir(file)] = append(folders[filepath.Dir(file)], file)
		}
	}
	if len(folders) < 150 {
		t.Fatalf("%d folders, want those of all modules", len(folders))
	}
	for folder, files := range folders {
		name, comments := packageOf(t, files)
		switch base := filepath.Base(folder); {
		case len(comments) != 1:
			t.Errorf("%s has %d package comments: write one, in one file", folder, len(comments))
			continue
		case name != "main" && folder != "." && name != base:
			t.Errorf("%s is package %s: name it like its folder", folder, name)
		case name != "main" && !strings.HasPrefix(comments[0], "Package "+name+" "):
			t.Errorf("%s: its comment begins with %.40q: begin it with Package %s", folder,
				comments[0], name)
		}
		if s := new(doc.Package).Synopsis(comments[0]); s == "" || len(s) > mostSynopsis {
			t.Errorf("%s: its comment begins with a sentence of %d letters: say in 1 to %d what "+
				"lives there", folder, len(s), mostSynopsis)
		}
	}
}

// packageOf returns the name of a folder's package and the comments on it. Files that no build has,
// such as generators, are packages of their own.
func packageOf(t *testing.T, files []string) (name string, comments []string) {
	t.Helper()
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil,
			parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		if ignored(parsed) {
			continue
		}
		name = parsed.Name.Name
		if parsed.Doc != nil {
			comments = append(comments, parsed.Doc.Text())
		}
	}
	return name, comments
}

func ignored(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Text == "//go:build ignore" {
				return true
			}
		}
	}
	return false
}

// everyGoFile returns the Go files of all modules.
func everyGoFile(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (name == "testdata" || strings.ContainsAny(name[:1], "._")):
			return filepath.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ".go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
