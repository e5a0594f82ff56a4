package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostRead is how many lines a reader can read in about an hour.
const mostRead = 2000

// TestMapOfARound checks that the twelve files of a round exist, and that they have at most
// mostRead lines together.
func TestMapOfARound(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| \[[^]]+\]\(([^)]+)\) \|`).
		FindAllStringSubmatch(mapText(t), -1)
	if len(rows) != 12 {
		t.Errorf("%d files, want twelve in reading order", len(rows))
	}
	lines := 0
	for _, row := range rows {
		text, err := os.ReadFile(filepath.Join(root, "docs", row[2]))
		if err != nil {
			t.Errorf("%s: %v", row[1], err)
		}
		lines += strings.Count(string(text), "\n")
	}
	t.Logf("%d lines", lines)
	if lines > mostRead {
		t.Errorf("%d lines, want at most %d: name files that have less beside a round", lines, mostRead)
	}
}

// TestMapOfFolders checks that the folders and files in docs/architecture.md exist.
func TestMapOfFolders(t *testing.T) {
	names := regexp.MustCompile("`([a-z]+(?:/[a-z_]+)*(?:\\.[a-z]+)?)`").
		FindAllStringSubmatch(mapText(t), -1)
	if len(names) < 60 {
		t.Fatalf("the map names %d folders and files, want those of its tables", len(names))
	}
	for _, name := range names {
		// A word alone is a preset, a command or a package that a sentence is about.
		if _, err := os.Stat(filepath.Join(root, name[1])); err != nil &&
			strings.ContainsAny(name[1], "/") {
			t.Errorf("the map has %s, which is not there", name[1])
		}
	}
}

func mapText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
