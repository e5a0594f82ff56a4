package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// TestReport: zofl report makes the same page from a running coordinator and from its log on disk,
// except for the place of the log. zofl compare compares two runs.
func TestReport(t *testing.T) {
	k := newKitchen(t)
	k.device("a")
	k.device("b")
	k.reach(12)
	for _, command := range [][]string{{"pause"}, {"rollback", "6"}} {
		if _, err := k.ask(command...); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	live, rest := filepath.Join(dir, "live.html"), filepath.Join(dir, "rest.html")
	if _, err := zofl(t, "report", "--url", k.url, "--run", "kitchen", "--out", live); err != nil {
		t.Fatal(err)
	}
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	boards, runs := filepath.Join(dir, "boards"), filepath.Join(dir, "mlruns")
	text, err := zofl(t, "report", "--store", k.log, "--out", rest, "--tensorboard", boards,
		"--mlflow", runs)
	if err != nil || !strings.Contains(text, "tensorboard --logdir") ||
		!strings.Contains(text, "mlflow ui") {
		t.Errorf("%v: %s", err, text)
	}
	curve := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(b), "<td>to record 6</td>") {
			t.Fatalf("%v, or no rollback in\n%s", err, b)
		}
		_, svg, _ := strings.Cut(string(b), "<svg")
		svg, _, _ = strings.Cut(svg, "</svg>")
		return svg
	}
	_, line, _ := strings.Cut(curve(rest), `points="`)
	line, _, _ = strings.Cut(line, `"`)
	if n := len(strings.Fields(line)); n < 3 || n > 5 { // of the records up to the 6th
		t.Errorf("a curve of %d points: %s", n, line)
	}
	if a, b := curve(live), curve(rest); a != b {
		t.Errorf("the curves are\n%s\nand\n%s", a, b)
	}
	for _, pattern := range []string{"boards/kitchen/*tfevents*", "mlruns/*/*/metrics/loss"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", pattern, found, err)
		}
	}
	page := filepath.Join(dir, "compare.html")
	text, err = zofl(t, "compare", k.log, k.log, "--json", "--out", page)
	var c struct {
		Differences []any
		Measure     string
		Equal       []struct{ A, B float64 }
	}
	if err != nil || json.Unmarshal([]byte(text), &c) != nil || len(c.Differences) != 0 ||
		c.Measure != "training loss" || len(c.Equal) == 0 || c.Equal[0].A != c.Equal[0].B {
		t.Errorf("%v: %s", err, text)
	}
	text, err = zofl(t, "compare", k.log, k.log)
	if err != nil || !strings.Contains(text, "AT EQUAL") {
		t.Errorf("%v: %s", err, text)
	}
	for _, args := range [][]string{{"report", "--store", k.log}, {"report", "--out", page},
		{"report", "--store", k.log, "--out", page}, {"compare", k.log},
		{"compare", k.log, k.log, "--metric", "speed"}, {"compare", k.log, dir},
		{"compare", k.log, k.log, "--out", page}} {
		if _, err := zofl(t, args...); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
	none := filepath.Join(dir, "none", "x.html")
	for _, args := range [][]string{{"report", "--store", k.log, "--out", none},
		{"compare", k.log, k.log, "--out", none}} {
		if _, err := zofl(t, args...); !errors.As(err, new(cli.UsageError)) || !strings.HasPrefix(
			err.Error(), "--out "+none+": no such file or directory: make its directory first") {
			t.Errorf("%v: %v", args, err)
		}
	}
	if err := os.Remove(filepath.Join(k.log, "history.jsonl")); err != nil {
		t.Fatal(err)
	}
	_, err = zofl(t, "report", "--store", k.log, "--out", filepath.Join(dir, "none.html"))
	if err == nil || !strings.Contains(err.Error(), "no history") {
		t.Errorf("without a history: %v", err)
	}
}
