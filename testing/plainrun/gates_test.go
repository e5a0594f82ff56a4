//go:build !race

package plainrun

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// TestGates builds this package's tests so that they count the statements that they run, and runs
// presets with them.
func TestGates(t *testing.T) {
	if testing.Short() || testing.CoverMode() != "" {
		t.Skip("compiles all packages once more")
	}
	binary := buildCovered(t)
	t.Run("foreign", func(t *testing.T) { foreignGate(t, binary) })
	t.Run("path", func(t *testing.T) { pathGate(t, binary) })
	t.Run("size", func(t *testing.T) { sizeGate(t, binary) })
}

// fileOf returns the lines of a file of testdata, which -update first sets to the given ones.
func fileOf(t *testing.T, name string, lines []string) []string {
	t.Helper()
	if *update {
		text := strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(filepath.Join("testdata", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return linesOf(t, name)
}

// linesOf returns the lines of a file of testdata.
func linesOf(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// compare checks that lines equal the lines of a file. The file may only shrink.
func compare(t *testing.T, name string, got []string) {
	t.Helper()
	want := fileOf(t, name, got)
	report(t, name, missing(got, want), missing(want, got))
}

// report says which lines a file lacks, and which lines of the file are gone.
func report(t *testing.T, name string, lacks, gone []string) {
	t.Helper()
	for _, line := range lacks {
		t.Errorf("%s lacks %q: a run must not pay for what it does not use. If this belongs to "+
			"every run, or has a new name, go test -run Gates -update", name, line)
	}
	for _, line := range gone {
		t.Errorf("%s has %q, which is gone: go test -run Gates -update", name, line)
	}
}

// missing returns the lines that others lack.
func missing(lines, others []string) (list []string) {
	for _, line := range lines {
		if !slices.Contains(others, line) {
			list = append(list, line)
		}
	}
	return list
}

// A run enters no function of a package of a feature that its plan lacks.
func foreignGate(t *testing.T, binary string) {
	var packages []string
	for _, name := range preset.Names() {
		p := profileOf(t, binary, name, 40)
		checkNamed(t, p)
		foreign := foreignTo(planOf(t, name))
		packages = append(packages, name+": "+strings.Join(foreign, " "))
		for f := range p.entered(t) {
			if slices.Contains(foreign, f.dir) {
				t.Errorf("%s enters %s, and its plan lacks that feature", name, f)
			}
		}
	}
	compare(t, "foreign.txt", packages)
}

// foreignTo returns the packages of features that a plan lacks.
func foreignTo(plan *plan.Plan) (dirs []string) {
	for _, f := range features {
		if !f.has(plan) {
			dirs = append(dirs, f.packages...)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// checkNamed checks that each package belongs to a feature or to the core.
func checkNamed(t *testing.T, p profile) {
	t.Helper()
	linked := map[string]bool{}
	for path := range p {
		linked[filepath.ToSlash(filepath.Dir(path))] = true
	}
	named := slices.Clone(core)
	for _, f := range features {
		named = append(named, f.packages...)
	}
	for _, dir := range slices.Sorted(maps.Keys(linked)) {
		if !slices.Contains(named, dir) {
			t.Errorf("no list has %s: give it to a feature, or to core, in features_test.go", dir)
		}
	}
	for _, dir := range named {
		if !linked[dir] {
			t.Errorf("features_test.go has %s, which is not in the program: take it out", dir)
		}
	}
}

// A function that runs in some rounds only, as replies happen to arrive, has this mark in path.txt.
const someRounds = ": some rounds"

// pathGate checks that the file lists the functions that a round of decomfl enters. These are the
// functions that run more often the more rounds there are. On a busy machine the coordinator may
// ask a device again. So a function with the mark may run in each round, in some rounds, or in
// none.
func pathGate(t *testing.T, binary string) {
	const name, few, many = "path.txt", 20, 60
	less := profileOf(t, binary, "decomfl", few).entered(t)
	profile := profileOf(t, binary, "decomfl", many)
	each, some := []string{}, []string{}
	for f, n := range profile.entered(t) {
		switch n -= min(n, less[f]); {
		case n >= many-few:
			each = append(each, f.String())
		case n > 0:
			some = append(some, f.String())
		}
	}
	if len(each) < 100 {
		t.Fatalf("a round enters %d functions: want those of its whole way", len(each))
	}
	if *update {
		fileOf(t, name, pathOf(linesOf(t, name), each, some, profile.functions(t)))
	}
	var always, marked []string
	for _, line := range linesOf(t, name) {
		if f, found := strings.CutSuffix(line, someRounds); found {
			marked = append(marked, f)
		} else {
			always = append(always, line)
		}
	}
	report(t, name, missing(each, slices.Concat(always, marked)), slices.Concat(
		missing(always, slices.Concat(each, some)), missing(marked, profile.functions(t))))
}

// pathOf returns the lines of path.txt after a run, from those before. A mark stays as long as the
// program has the function.
func pathOf(before, each, some, functions []string) (lines []string) {
	for _, f := range functions {
		marked := slices.Contains(before, f+someRounds)
		switch always := slices.Contains(each, f); {
		case marked, slices.Contains(before, f) && !always && slices.Contains(some, f):
			lines = append(lines, f+someRounds)
		case always:
			lines = append(lines, f)
		}
	}
	return lines
}

// sizeGate checks that a run of decomfl executes no more statements, in no more files, than the
// file says.
func sizeGate(t *testing.T, binary string) {
	const name = "size.txt"
	got := map[string]size{}
	for path, blocks := range profileOf(t, binary, "decomfl", 40) {
		ran := 0
		for _, b := range blocks {
			if b.count > 0 {
				ran += b.statements
			}
		}
		if ran > 0 {
			for _, part := range []string{partOf(path), "all"} {
				s := got[part]
				got[part] = size{s.statements + ran, s.files + 1}
			}
		}
	}
	var lines []string
	for _, part := range slices.Sorted(maps.Keys(got)) {
		lines = append(lines, fmt.Sprintf("%s %d statements in %d files", part,
			got[part].statements, got[part].files))
	}
	t.Log("\n" + strings.Join(lines, "\n"))
	for _, line := range fileOf(t, name, lines) {
		var part string
		var most size
		if _, err := fmt.Sscanf(line, "%s %d statements in %d files", &part, &most.statements,
			&most.files); err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		switch s := got[part]; {
		case s.statements > most.statements+slack || s.files > most.files:
			t.Errorf("%s: %d statements in %d files, want at most %d in %d: what is new runs "+
				"though this run does not use it, or go test -run Gates -update and say why", part,
				s.statements, s.files, most.statements, most.files)
		case s.statements < most.statements-2*slack || s.files < most.files-1:
			t.Errorf("%s: %d statements in %d files, and %s has %d in %d: go test -run Gates -update",
				part, s.statements, s.files, name, most.statements, most.files)
		}
	}
}

type size struct{ statements, files int }

// slack allows for statements that run or not depending on the scheduling of goroutines, and for
// small changes.
const slack = 20

func partOf(path string) string {
	for _, part := range []string{"client/replica", "client", "coordinator", "plan", "wire"} {
		if strings.HasPrefix(path, part+"/") {
			return part
		}
	}
	return "others"
}
