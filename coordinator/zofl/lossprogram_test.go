package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan/planfile"
)

// A parent is a program that starts zofl and computes losses for it: those of a bowl around 1.
type parent struct {
	t       *testing.T
	hello   string
	until   int     // it ends after so many losses; 0: never
	finite  float64 // what is above it is infinite; 0: nothing
	losses  int
	devices map[string]int // losses by device
	path    string
	told    []string                 // of progress
	follow  func(line string) string // answers progress
}

// run runs a command with --stdio, and returns what it wrote to standard error.
func (p *parent) run(args ...string) (string, error) {
	p.t.Helper()
	requests, out := io.Pipe()
	in, answers := io.Pipe()
	var stderr bytes.Buffer
	cmd := root()
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(&stderr)
	cmd.SetArgs(append(args, "--stdio"))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer answers.Close()
		defer requests.Close()
		lines := bufio.NewScanner(requests)
		for lines.Scan() && (p.until == 0 || p.losses < p.until) {
			fmt.Fprintln(answers, p.answer(lines.Text()))
		}
	}()
	err := cmd.ExecuteContext(p.t.Context())
	out.Close()
	in.Close()
	<-ended
	return stderr.String(), err
}

// answer computes one answer.
func (p *parent) answer(line string) string {
	verb, rest, _ := strings.Cut(line, " ")
	args := make(map[string]string)
	for word := range strings.FieldsSeq(rest) {
		key, value, _ := strings.Cut(word, "=")
		args[key] = value
	}
	switch verb {
	case "hello":
		return p.hello
	case "map":
		p.path = args["path"]
		return "ok"
	case "progress":
		p.told = append(p.told, rest)
		return p.follow(rest)
	case "evaluate":
		return fmt.Sprint("metrics ", math.Sqrt(p.bowls(1)[0]), " samples=7")
	}
	var points int
	fmt.Sscan(args["points"], &points)
	p.losses += points
	if p.devices == nil {
		p.devices = make(map[string]int)
	}
	p.devices[args["device"]] += points
	return "loss " + strings.Trim(fmt.Sprint(p.bowls(points)), "[]")
}

// bowls returns the losses at the first points of the file.
func (p *parent) bowls(points int) []float64 {
	b, err := os.ReadFile(p.path)
	if err != nil {
		return nil
	}
	losses := make([]float64, points)
	for i := range losses {
		for j := range kitchenDim {
			at := 4 * (i*kitchenDim + j)
			v := math.Float32frombits(binary.LittleEndian.Uint32(b[at:])) - 1
			losses[i] += float64(v) * float64(v) / kitchenDim
		}
		if p.finite > 0 && losses[i] > p.finite {
			losses[i] = math.Inf(1)
		}
	}
	return losses
}

func newParent(t *testing.T) *parent {
	return &parent{t: t, hello: fmt.Sprintf("hello 1 dim=%d points=8 evaluate=1", kitchenDim)}
}

// bowlFile stores a plan for the loss of a parent.
func bowlFile(t *testing.T, args ...string) string {
	return planFile(t, append([]string{"--preset", "decomfl", "--dim", fmt.Sprint(kitchenDim), "--set",
		"step=0.05", "--set", `metrics=["far"]`}, args...)...)
}

// TestSimulateStdio: the parent of zofl gives the losses of all devices, and reads lines of JSON.
func TestSimulateStdio(t *testing.T) {
	p := newParent(t)
	text, err := p.run("simulate", bowlFile(t), "--json", "--devices", "3", "--seeds", "2", "--sweep",
		"step=0.01,0.2", "--rounds", "9", "--every", "4")
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	all := simulatedLines(t, text)
	if len(all) != 4*(1+9+1)+1 || strings.Count(text, "\n") != len(all) {
		t.Fatalf("%d lines of JSON in:\n%s", len(all), text)
	}
	queries := uint64(0)
	for _, e := range all {
		switch {
		case e.Event == "end":
			if queries += e.Queries; e.Ended != "rounds" || e.Metrics["far"] == nil {
				t.Errorf("%+v", e)
			}
		case e.Event == "round" && e.Contributors != 3:
			t.Errorf("%+v", e)
		}
	}
	if len(p.devices) != 3 || uint64(p.losses) != queries || p.devices["d0"] != p.devices["d2"] {
		t.Errorf("%d losses of %v, the lines say %d", p.losses, p.devices, queries)
	}
	if done := all[len(all)-1]; done.Event != "done" || done.Runs != 4 ||
		done.Best != "step=0.2,seed=1" {
		t.Errorf("%+v", done)
	}
}

// TestSimulateStdioEnds: when the parent ends, zofl says so and ends; what was done is kept.
func TestSimulateStdioEnds(t *testing.T) {
	p := newParent(t)
	p.until = 500
	dir := filepath.Join(t.TempDir(), "results")
	text, err := p.run("simulate", bowlFile(t, "--set", "rounds=1000000"), "--json", "--devices", "3",
		"--seeds", "3", "--out", dir)
	if err == nil || cli.ExitCode(err, false) != cli.ExitFailure ||
		!strings.Contains(err.Error(), "ended") {
		t.Errorf("got %v", err)
	}
	all := simulatedLines(t, text)
	if end := all[len(all)-2]; end.Event != "end" || end.Rounds == 0 || end.Error == "" ||
		all[len(all)-1].Error == "" || all[len(all)-1].Runs != 0 {
		t.Errorf("the last lines %+v", all[len(all)-2:])
	}
	if b, err := os.ReadFile(filepath.Join(dir, "history.jsonl")); err != nil || len(b) == 0 {
		t.Errorf("%d bytes of history, %v", len(b), err)
	}
}

// TestTuneStdio: the parent of zofl has a plan tuned to its loss.
func TestTuneStdio(t *testing.T) {
	p := newParent(t)
	out := filepath.Join(t.TempDir(), "tuned.json")
	text, err := p.run("tune", bowlFile(t, "--set", "step=1e-5"), "--json", "--devices", "2",
		"--fields", "step", "--rounds", "12", "--out", out)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var got struct {
		Plan    *planfile.Plan
		Before  float64 `json:"loss_before"`
		Loss    float64
		Queries int
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if tuned := readPlan(t, out); tuned.StepSize < 1e-3 || got.Plan.StepSize != tuned.StepSize ||
		!(got.Loss < got.Before) || got.Queries != p.losses {
		t.Errorf("%d losses, %s", p.losses, text)
	}
}

// TestSimulateFindsValuesBesideInfinity: an exponential overflows far from the model, where devices
// look for mu. That is an answer, and costs no device its part in the run.
func TestSimulateFindsValuesBesideInfinity(t *testing.T) {
	name := planFile(t, "--dim", fmt.Sprint(kitchenDim), "--set", "rounds=12")
	p := newParent(t)
	p.finite = 100
	text, err := p.run("simulate", name, "--devices", "3", "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	list := simulatedLines(t, text)
	if end := list[len(list)-2]; end.Ended != "rounds" || !(*end.Loss < 1) {
		t.Errorf("%+v", end)
	}
}

// TestSimulateProgram: a program in another language is started, named in either way.
func TestSimulateProgram(t *testing.T) {
	command := []string{"sh", filepath.Join("..", "..", "examples", "exec", "loss.sh")}
	name := planFile(t, "--preset", "decomfl", "--dim", "5", "--set", "rounds=3", "--set",
		"perturbations=2")
	args := []string{"simulate", name, "--devices", "2", "--json"}
	after, err := zofl(t, append(append(args, "--"), command...)...)
	if err != nil {
		t.Fatal(err)
	}
	before, err := zofl(t, append(args, "--exec", strings.Join(command, " "))...)
	if err != nil {
		t.Fatal(err)
	}
	a, b := simulatedLines(t, after), simulatedLines(t, before)
	if end := a[len(a)-2]; len(a) != 6 || end.Ended != "rounds" || end.Queries != 3*2*3 ||
		b[len(b)-2].Loss == nil || *end.Loss != *b[len(b)-2].Loss {
		t.Errorf("after --:\n%s\nwith --exec:\n%s", after, before)
	}
}

// TestSimulateProgramEnds: a program that ends at its first loss makes the command fail, and each
// run has begun with a program of its own.
func TestSimulateProgramEnds(t *testing.T) {
	const once = `read hello; echo hello 1 dim=5; read map; echo ok; read loss; exit 3`
	name := planFile(t, "--preset", "decomfl", "--dim", "5", "--set", "rounds=3")
	out, err := zofl(t, "simulate", name, "--devices", "1", "--seeds", "2", "--json", "--", "sh", "-c",
		once)
	if err == nil || errors.As(err, new(cli.UsageError)) ||
		!hasAll(err.Error(), []string{"no run came to its end", "ended before it answered"}) {
		t.Errorf("got %v", err)
	}
	ends := 0
	for _, e := range simulatedLines(t, out) {
		if e.Event == "end" {
			if ends++; e.Ended != "paused" || !strings.Contains(e.Error, "ended before it") {
				t.Errorf("%+v", e)
			}
		}
	}
	if ends != 2 {
		t.Errorf("%d runs ended:\n%s", ends, out)
	}
}

func TestLossProgramRefuses(t *testing.T) {
	name, bare := bowlFile(t), planFile(t, "--preset", "decomfl", "--dim", fmt.Sprint(kitchenDim))
	silent := []string{"--", "sh", "-c",
		fmt.Sprintf("read a; echo hello 1 dim=%d; read b", kitchenDim)}
	for _, c := range []struct{ args, want []string }{
		{[]string{name, "--"}, []string{"after --", "python3"}},
		{[]string{name, "--exec", " "}, []string{"--exec", "empty"}},
		{[]string{name, "--exec", "a", "--", "b"}, []string{"--exec", "one of both"}},
		{[]string{name, "--stdio", "--", "b"}, []string{"--stdio", "one of both"}},
		{[]string{name, "--objective", "bowl", "--", "b"}, []string{"--objective", "program"}},
		{[]string{name, "--startup", "1s"}, []string{"--startup", "--exec"}},
		{[]string{name, "--grace", "0s", "--", "b"}, []string{"--grace 0s"}},
		{[]string{"--", "b"}, []string{"0 files"}},
	} {
		for _, command := range []string{"simulate", "tune"} {
			_, err := zofl(t, append([]string{command}, c.args...)...)
			t.Run(strings.Join(c.args, " "), func(t *testing.T) { refused(t, err, c.want) })
		}
	}
	_, err := zofl(t, append([]string{"simulate", name, "--every", "3", "--rounds", "3"},
		silent...)...)
	refused(t, err, []string{"--every 3", "evaluate=1"})
	_, err = newParent(t).run("simulate", bare, "--every", "3", "--rounds", "3")
	refused(t, err, []string{"no metrics", "metrics="})
	if _, err = zofl(t, "tune", name, "--exec", "sh -c"); err == nil {
		t.Error("a program that says nothing is taken")
	}
}
