//go:build linux

package simulation

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestPlantedApply: every bug of planted.sh has its place in the code, also once that has moved.
func TestPlantedApply(t *testing.T) {
	script, err := os.ReadFile("planted.sh") // for the test cache, with each file that it changes
	if err != nil {
		t.Fatal(err)
	}
	plants := regexp.MustCompile(`(?m)^(?:under '[^']+' )?plant [a-z-]+ (\S+)`)
	bugs := plants.FindAllSubmatch(script, -1)
	if len(bugs) < 30 {
		t.Fatalf("%d bugs, want 30 or more", len(bugs))
	}
	for _, bug := range bugs {
		if _, err := os.ReadFile("../../../" + string(bug[1])); err != nil {
			t.Error(err)
		}
	}
	out, err := exec.Command("bash", "planted.sh", "--texts").CombinedOutput()
	if applied := strings.Count(string(out), " applies\n"); err != nil || applied != len(bugs) {
		t.Errorf("%d of %d bugs apply: %v\n%s", applied, len(bugs), err, out)
	}
}
