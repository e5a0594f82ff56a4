package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/planfile"
)

// zofl runs the program with arguments and returns what it printed.
func zofl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := root()
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestDemoRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want []string // in the message
	}{
		{"method", []string{"--method", "nothing"}, []string{"--method nothing: ", "decomfl"}},
		{"devices", []string{"--devices", "0"}, []string{"devices", "0"}},
		{"split", []string{"--split", "odd"}, []string{"split", "odd", "dirichlet"}},
		{"field", []string{"--set", "stepz=3"}, []string{"stepz", "3"}},
		{"value", []string{"--set", "beta=1.5"}, []string{"beta", "1.5"}},
		{"form", []string{"--set", "beta"}, []string{"beta", "field=value"}},
		{"dim", []string{"--set", "dim=3"}, []string{"dim", "7850"}},
		{"metrics", []string{"--set", `metrics=["accuracy","loss"]`},
			[]string{"metrics", "accuracy"}},
		{"memory", []string{"--method", "fzoos", "--set", "features=65000", "--set", "window=5000"},
			[]string{"devices", "20", "features", "4 GiB"}},
		{"flag", []string{"--nothing"}, []string{"nothing", "--help"}},
		{"argument", []string{"extra"}, []string{"extra", "--help"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := zofl(t, append([]string{"demo", "--rounds", "1"}, c.args...)...)
			refused(t, err, c.want)
		})
	}
	if _, err := zofl(t, "demo", "--data", t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "train-images") {
		t.Errorf("an empty data directory: %v, want the name of the missing file", err)
	}
}

// refused checks for a usage error that says what is wrong.
func refused(t *testing.T, err error, want []string) {
	t.Helper()
	if err == nil || !errors.As(err, new(cli.UsageError)) {
		t.Fatalf("got %v, want a usage error", err)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not mention %q", err, w)
		}
	}
}

func TestPlanWriteAndRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	args := []string{"plan", "--preset", "decomfl", "--run", "kitchen", "--dim", "7850", "--set",
		"steps=3", "--write", file}
	if _, err := zofl(t, args...); err != nil {
		t.Fatal(err)
	}
	out, err := zofl(t, "plan", file, "--json", "--set", "perturbations=4")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Plan *planfile.Plan `json:"plan"`
		Cost cost.Round     `json:"cost"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if p := got.Plan; p.Run != "kitchen" || p.Steps != 3 || p.Perturbations != 4 ||
		len(p.RunKey) != 32 {
		t.Errorf("read back %+v", p)
	}
	if got.Cost.Queries != 3*(4+1) {
		t.Errorf("%d queries, want K(P+1) = 15", got.Cost.Queries)
	}
	if _, err := zofl(t, args...); !errors.Is(err, os.ErrExist) {
		t.Errorf("writing over a plan: %v, want %v", err, os.ErrExist)
	}
}

func TestPlanExplains(t *testing.T) {
	out, err := zofl(t, "plan", "--preset", "decomfl", "--dim", "1000000", "--set", "rule=momentum",
		"--set", "beta=0.9", "--explain")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Algorithms 3 and 4", "(8)-(9)",
		"bytes sent, at the device's socket", "22.90 MiB", "53.42 MiB"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, " weight_decay=0") {
		t.Error("a field that is not set is listed")
	}
	fields, err := zofl(t, "plan", "--fields")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range plan.Fields() {
		if !strings.Contains(fields, f.Name) {
			t.Errorf("--fields leaves out %s", f.Name)
		}
	}
	_, err = zofl(t, "plan")
	refused(t, err, []string{"--dim"})
}
