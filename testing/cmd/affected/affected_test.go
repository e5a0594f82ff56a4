package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// The repository has two modules. Package c imports b, and b imports a; d uses b only in tests;
// tool runs c and reads a data file of a.
var repository = fstest.MapFS{
	"go.mod":              {Data: []byte("module m\n")},
	"m_test.go":           {Data: []byte(`package m; const about = "m/a"`)},
	"a/a.go":              {Data: []byte("package a")},
	"a/a_test.go":         {Data: []byte("package a")},
	"a/testdata/sub/a.go": {Data: []byte(`package ignored; import _ "m/b"`)},
	"b/b.go":              {Data: []byte(`package b; import _ "m/a"`)},
	"b/b_test.go":         {Data: []byte("package b")},
	"c/c.go":              {Data: []byte("package main; import (\n\"fmt\"\n_ `m/b`)")},
	"c/c_test.go":         {Data: []byte("package main")},
	"d/d.go":              {Data: []byte("package d")},
	"d/d_test.go":         {Data: []byte(`package d; import _ "m/b"`)},
	"d/other.go":          {Data: []byte("//go:build other\n\npackage d; import _ \"m/lost\"")},
	"e/e.go":              {Data: []byte("package e\n\n//go:embed page.html\nvar page string")},
	"e/e_test.go":         {Data: []byte("package e")},
	"f/f.go":              {Data: []byte(`package f; import ("m/e"; "m/d")`)},
	"f/f_test.go":         {Data: []byte("package f; broken {")},
	"untested/u.go":       {Data: []byte("package untested")},
	"nested/go.mod":       {Data: []byte("module m/nested\n\nreplace m => ../\n")},
	"nested/tool/t.go":    {Data: []byte("package tool")},
	"nested/tool/t_test.go": {
		Data: []byte(`package tool; const run, data = "../../c", "../../a/testdata/golden.txt"`)},
	"nested/other/o.go":      {Data: []byte("package other")},
	"nested/other/o_test.go": {Data: []byte(`package other; const program = "./tool"`)},
	"nested/docs/d.go":       {Data: []byte("package docs")},
	"nested/docs/d_test.go":  {Data: []byte(`package docs; const root, page = "../..", ".md"`)},
	"_work/w.go":             {Data: []byte(`package w; import _ "m/a"`)},
}

func TestAffected(t *testing.T) {
	all, err := read(repository)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		files, want string
	}{
		"nothing": {"", ""},
		"importers, and what runs": {"a/a.go",
			"0 m/a, 1 m, 1 m/b, 2 m/c, 2 m/d, 3 m/nested/tool"},
		"assembly is code":           {"b/b_amd64.s", "0 m/b, 1 m/c, 1 m/d, 2 m/nested/tool"},
		"tests are imported nowhere": {"a/a_test.go", "0 m/a"},
		"data and its readers":       {"a/testdata/golden.txt", "0 m/a, 1 m/nested/tool"},
		"Go files in testdata":       {"a/testdata/sub/a.go", "0 m/a"},
		"what is embedded":           {"e/page.html", "0 m/e, 1 m/f"},
		"what is not":                {"d/README.md", "0 m/d, 1 m/nested/docs"},
		"a directory without Go":     {"docs/page.txt", "0 m"},
		"pages that are run":         {"docs/page.md", "0 m, 1 m/nested/docs"},
		"tests that do not compile":  {"f/f_test.go", "0 m/f"},
		"a new file":                 {"c/new/n.go", "0 m/c, 1 m/nested/tool"},
		"a deleted package":          {"lost/lost.go", "0 m, 1 m/d, 2 m/f"},
		"a nested package":           {"nested/tool/t.go", "0 m/nested/tool, 1 m/nested/other"},
		"requirements": {"nested/go.sum",
			"0 m/nested/docs, 0 m/nested/other, 0 m/nested/tool"},
		"a package without tests": {"untested/u.go", "0 m/untested"},
		"several": {"b/b_test.go a/a.go nested/tool/t_test.go",
			"0 m/a, 0 m/b, 0 m/nested/tool, 1 m, 2 m/c, 2 m/d"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range all.affected(strings.Fields(test.files)) {
				got = append(got, string(rune('0'+e.distance))+" "+e.path)
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	_, err := read(fstest.MapFS{"x/go.mod": {Data: []byte("go 1.26\n")}})
	if err == nil || !strings.Contains(err.Error(), "x/go.mod names no module") {
		t.Errorf("got %v", err)
	}
}
