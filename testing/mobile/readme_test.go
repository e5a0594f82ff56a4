package mobile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/testing/docs"
)

// TestReadme compiles the README's Kotlin program as printed, except for the broker's
// address, and lets it take part in a run of one device to the end.
func TestReadme(t *testing.T) {
	t.Parallel()
	bound(t)
	page, err := docs.Read("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block, err := page.Only("kotlin")
	if err != nil {
		t.Fatal(err)
	}
	const printed = "127.0.0.1:4222"
	if !strings.Contains(block.Text, printed) {
		t.Fatalf("the program has no %s", printed)
	}
	const rounds = 200
	s := newOpenSite(t)
	p := testPlan(t, "kitchen", 2, 1, 1, rounds)
	p.Perturbations = 10
	l := s.lead(p)
	sources := t.TempDir()
	text := strings.ReplaceAll(block.Text, printed, s.cfg.Listen)
	if err := os.WriteFile(filepath.Join(sources, "Main.kt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := kotlinOf(t, sources, "MainKt")
	cmd.Dir = t.TempDir() // of its state
	device := start(t, "MainKt", cmd)
	l.after(rounds)
	told := device.find("record 202", func(v line) bool {
		text, _ := v["text"].(string)
		return strings.HasPrefix(text, "record 202, model ")
	})
	device.done()
	t.Log(told)
}
