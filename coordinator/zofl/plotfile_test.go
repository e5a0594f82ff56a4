package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlotFile: tune stores the plot beside the plan, once.
func TestPlotFile(t *testing.T) {
	name := planFile(t, "--preset", "decomfl", "--dim", "40", "--set", "members=5")
	file := filepath.Join(t.TempDir(), "tuned.svg")
	args := []string{"tune", name, "--objective", "bowl", "--fields", "step", "--rounds", "8",
		"--plot", file}
	if _, err := zofl(t, args...); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if trials := strings.Count(string(b), "<circle"); trials < 3 {
		t.Errorf("%d trials in\n%s", trials, b)
	}
	_, err = zofl(t, args...)
	refused(t, err, []string{"--plot", file, "--force"})
	if _, err := zofl(t, append(args, "--force")...); err != nil {
		t.Error(err)
	}
	_, err = zofl(t, "tune", name, "--plot", "x.bmp")
	refused(t, err, []string{"--plot x.bmp", ".svg"})
}
