package transcript

import (
	"flag"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

var update = flag.Bool("update", false, "write the files anew")

// TestTranscripts plays each file to a client. With -update it first writes the file.
func TestTranscripts(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if *update {
				synctest.Test(t, func(t *testing.T) {
					w := s.run(t)
					f := file{about: s.about, head: w.head, lines: w.finish()}
					if err := f.write(s.name); err != nil {
						t.Fatal(err)
					}
				})
			}
			synctest.Test(t, func(t *testing.T) { play(t, s.name) })
		})
	}
}

// TestFiles: each file has its scenario, and docs/device.md names it.
func TestFiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/device.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS("../../client/testdata/transcripts"), "*.txt")
	more, errMore := fs.Glob(os.DirFS("../../client/testdata/transcripts"), "*/*.txt")
	if err != nil || errMore != nil || len(files)+len(more) != len(scenarios) {
		t.Fatalf("%d files, %v, %v, want %d", len(files)+len(more), err, errMore, len(scenarios))
	}
	for _, file := range append(files, more...) {
		name := strings.TrimSuffix(file, ".txt")
		if !slices.ContainsFunc(scenarios, func(s scenario) bool { return s.name == name }) {
			t.Errorf("%s has no scenario", file)
		}
		_, table, _ := strings.Cut(string(page), "| file | what happens |")
		if !strings.Contains(table, name) {
			t.Errorf("docs/device.md does not name %s", file)
		}
	}
}
