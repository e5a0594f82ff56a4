//go:build !race

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers"
	"github.com/zofl/zofl/papers/lab"
)

func TestList(t *testing.T) {
	var out bytes.Buffer
	if err := command(t.Context(), &out, io.Discard, []string{"list"}); err != nil {
		t.Fatal(err)
	}
	for _, e := range papers.All() {
		if !strings.Contains(out.String(), e.ID+" ") {
			t.Errorf("%s is not listed:\n%s", e.ID, &out)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	table, plot := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.svg")
	var out, progress bytes.Buffer
	args := []string{"run", "zofedht-table1", "--seeds", "2", "--json", "--csv", table, "--plot", plot}
	if err := command(t.Context(), &out, &progress, args); err != nil {
		t.Fatal(err)
	}
	var got struct {
		ID     string
		Claims []lab.Claim
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.ID != "zofedht-table1" ||
		len(got.Claims) != 3 {
		t.Errorf("%v: %s", err, &out)
	}
	for _, file := range []string{table, plot} {
		if b, err := os.ReadFile(file); err != nil || len(b) < 100 {
			t.Errorf("%s: %d bytes, %v", file, len(b), err)
		}
	}
	out.Reset()
	if err := command(t.Context(), &out, io.Discard,
		[]string{"run", "--seeds=1", "zofedht-table1"}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "holds ") ||
		!strings.HasSuffix(out.String(), "claims hold here\n") {
		t.Errorf("as text:\n%s", &out)
	}
}

// TestSummary: a report's summary is written as Markdown.
func TestSummary(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.md")
	if err := command(t.Context(), io.Discard, io.Discard, []string{"run", "defaults", "--short",
		"--data=", "--presets=mezo,decomfl", "--tasks=digits-softmax", "--rounds=1",
		"--table", file}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if lines := strings.Split(string(b), "\n"); err != nil || len(lines) != 2+3+1 ||
		lines[0] != "| preset, untouched | digits-softmax |" || lines[1] != "|---|---|" ||
		!strings.HasPrefix(lines[2], "| mezo | ") {
		t.Errorf("%v:\n%s", err, b)
	}
}

// TestSecondFigure: a report's other figures are written beside the first.
func TestSecondFigure(t *testing.T) {
	o := &order{plot: filepath.Join(t.TempDir(), "curve.svg")}
	if err := o.write(io.Discard, &lab.Report{More: []chart.Chart{{X: "queries"}}},
		false); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{o.plot, strings.TrimSuffix(o.plot, ".svg") + "-2.svg"} {
		b, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(b), "queries") != strings.HasSuffix(file, "-2.svg") {
			t.Errorf("%s: %d bytes, %v", file, len(b), err)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Setenv("ZOFL_DATA", "")
	for _, test := range []struct {
		args  string
		usage bool
		want  string
	}{
		{"", true, "paper run ID"},
		{"train", true, "train"},
		{"list x", true, "no argument"},
		{"run", true, "choose one of"},
		{"run nonsense", true, "decomfl-lag"},
		{"run decomfl-lag x", true, "too many"},
		{"run decomfl-lag --seeds -1", true, "--seeds -1"},
		{"run decomfl-lag --plot a.doc", true, "ends in .svg"},
		{"run decomfl-lag --nonsense", true, "nonsense"},
		{"run decomfl-lag --presets decomfl", true, "decomfl-lag does not take --presets"},
		{"run defaults --presets nonsense", false, "choose among"},
		{"run decomfl-mnist", false, "set --data or ZOFL_DATA"},
		{"run decomfl-mnist --data " + t.TempDir(), false, "put the files of mnist there"},
	} {
		err := command(t.Context(), io.Discard, io.Discard, strings.Fields(test.args))
		if err == nil || errors.Is(err, errUsage) != test.usage ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("paper %s: %v", test.args, err)
		}
	}
}

// TestInterrupt: an interrupted run claims nothing, and the command fails.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	err := command(ctx, &out, io.Discard, []string{"run", "decomfl-lag", "--json"})
	if !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("got %v and %q", err, &out)
	}
}
