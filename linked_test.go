package zofl_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite client/testdata/linked.txt")

// device is what a minimal program of a device imports.
var device = []string{module + "/client", module + "/client/objective", direct[0]}

// A device links what client/testdata/linked.txt lists, on an ARM board with Linux: each package
// with one that imports it, and + where others do too. The standard library's internal packages are
// left out. Who adds a line makes every device larger: go test -run Linked -update, and say why.
func TestLinked(t *testing.T) {
	readTracked(t)
	sourceFiles(t, ".")
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", "arm64")
	t.Setenv("CGO_ENABLED", "0")
	list := goList(t, ".", append([]string{"-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`},
		device...)...)
	importers := map[string][]string{}
	for _, line := range list {
		path, imports, _ := strings.Cut(line, " ")
		for _, name := range strings.Fields(imports) {
			importers[name] = append(importers[name], path)
		}
	}
	var got []string
	for _, line := range list {
		path, _, _ := strings.Cut(line, " ")
		if !hidden(path) {
			got = append(got, path+from(importers[path]))
		}
	}
	slices.Sort(got)
	if len(got) < 100 {
		t.Fatalf("%d packages, want all that a device links", len(got))
	}
	const file, rewrite = "client/testdata/linked.txt", "go test -run Linked -update ."
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("a device links %s, and %s lacks it: if it must, %s", line, file, rewrite)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s has %s, and no device links it so: %s", file, line, rewrite)
		}
	}
}

// hidden says whether a package is inside the standard library, where nobody chooses it.
func hidden(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && (isInternal(path) || first == "vendor")
}

// from names the first of a package's importers that is not hidden.
func from(importers []string) string {
	importers = slices.DeleteFunc(slices.Clone(importers), hidden)
	slices.Sort(importers)
	switch len(importers) {
	case 0:
		return ""
	case 1:
		return " from " + importers[0]
	}
	return " from " + importers[0] + "+"
}
