package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quoted is a word between backquotes.
var quoted = regexp.MustCompile("`([^`]+)`")

// TestFaultsHaveTests checks that every fault in docs/faults.md and every attack in docs/attacks.md
// names a test, and that the test exists. A row names tests as `package`: `TestName`, followed by
// more tests of the same package.
func TestFaultsHaveTests(t *testing.T) {
	faults, err := os.ReadFile("../../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	attacks, err := os.ReadFile("../../docs/attacks.md")
	if err != nil {
		t.Fatal(err)
	}
	page := append(faults, attacks...)
	rows, tests := 0, 0
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || strings.Contains(line, "|---") || cells[3] == " test " {
			continue
		}
		rows++
		before, dir := tests, ""
		for _, word := range quoted.FindAllStringSubmatch(cells[len(cells)-2], -1) {
			name, _, _ := strings.Cut(word[1], "/")
			if !strings.HasPrefix(name, "Test") {
				dir = word[1]
				continue
			}
			tests++
			if !hasTest(t, dir, name) {
				t.Errorf("%q: package %q has no test %s", cells[1], dir, name)
			}
		}
		if tests == before {
			t.Errorf("%q has no test", cells[1])
		}
	}
	if rows < 120 {
		t.Errorf("%d faults and attacks, want those of all chapters", rows)
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	if err != nil || dir == "" {
		return false
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
