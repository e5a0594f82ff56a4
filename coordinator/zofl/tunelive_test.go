package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/coordinator/zofl/internal/livetune"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/lab"
	"github.com/zofl/zofl/plan/planfile"
)

// A liveResult is what `zofl tune --run --json` prints.
type liveResult struct {
	Plan            *planfile.Plan
	Field           string  `json:"step_field"`
	Before          float64 `json:"loss_before"`
	Loss            float64
	Trials          []lab.TrialLine
	Reasons         []string
	Queries, Budget uint64
}

// tuned runs `zofl tune --run` on a kitchen.
func (k *kitchen) tuned(args ...string) (r liveResult) {
	k.t.Helper()
	out, err := zofl(k.t, append([]string{"tune", "--run", "kitchen", "--url", k.url, "--json"},
		args...)...)
	if err != nil {
		k.t.Fatalf("%v: %s", err, out)
	}
	decode(k.t, out, &r)
	return r
}

// slow are flags of a plan whose step is far too small, for the bowl.
var slow = []string{"--preset", "decomfl", "--set", "step=1e-3", "--set", "diverge=2"}

// TestTuneARun: of three steps the run goes on with the best, and the last round of its trial; the
// one that diverges is rolled back; devices follow, and the budget is kept.
func TestTuneARun(t *testing.T) {
	k := newKitchenOf(t, slow)
	k.device("a")
	k.device("b")
	k.reach(1)
	r := k.tuned("--factors", "1,40,100000", "--rounds", "12")
	if len(r.Trials) != 3 || r.Field != "step" || r.Trials[2].Outcome != "diverged" ||
		r.Trials[0].Step != 1e-3 || r.Trials[0].Rounds != 12 || r.Trials[1].Rounds != 12 ||
		r.Plan.StepSize != 0.04 {
		t.Fatalf("got %+v", r)
	}
	first, second := *r.Trials[0].Loss, *r.Trials[1].Loss
	if !(second < first) || r.Loss != second || !(r.Loss < r.Before) {
		t.Errorf("losses %v, %v, of the best %v, before %v", first, second, r.Loss, r.Before)
	}
	// P+1 evaluations of 2 devices a round, and of the one that is open at the pause.
	p := uint64(r.Plan.Perturbations)
	if want := (12 + 1) * 2 * (p + 1); r.Trials[0].Queries != want || r.Trials[1].Queries != want ||
		r.Budget != 3*want || r.Queries > r.Budget {
		t.Errorf("queries %d and %d of %d, want %d for each", r.Trials[0].Queries, r.Trials[1].Queries,
			r.Budget, want)
	}
	s := k.reach(0)
	s = k.reach(s.N + 5)
	if s.State == "paused" || !(float64(s.Loss) < 1.1*r.Loss) {
		t.Errorf("the run goes on as %+v, want it from the best trial, of loss %v", s, r.Loss)
	}
	k.follows("a", s.N)
	text, err := zofl(t, "log", "--url", k.url, "--run", "kitchen", "--json")
	if err != nil || strings.Count(text, `"kind":"rollback"`) != 3 {
		t.Errorf("%v: the log is, want a rollback after each trial:\n%s", err, text)
	}
	stop(t, k.lead)
	k.agrees("a")
}

// TestTuneAutomaticSteps: a run whose devices find the step is tuned from there on, in table and
// bars; the budget shortens the trials.
func TestTuneAutomaticSteps(t *testing.T) {
	k := newKitchen(t)
	k.device("a")
	k.device("b")
	k.reach(1)
	out, err := zofl(t, "tune", "--run", "kitchen", "--url", k.url, "--rounds", "8", "--queries",
		"400")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"STAGE", "live", "of 400 loss evaluations were used", "█",
		"The run goes on"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	s := k.reach(0)
	if s = k.reach(s.N + 5); s.State == "paused" {
		t.Errorf("the run does not go on: %+v", s)
	}
}

// TestTuneARunIsInterrupted: the run goes on from the best state so far, and no trial is left.
func TestTuneARunIsInterrupted(t *testing.T) {
	k := newKitchenOf(t, slow)
	k.device("a")
	k.device("b")
	k.reach(5)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	var out await.Text
	go func() {
		cmd := root()
		cmd.SetOut(&out)
		cmd.SetArgs([]string{"tune", "--run", "kitchen", "--url", k.url, "--factors", "3,5",
			"--rounds", "1000000"})
		ended <- cmd.ExecuteContext(ctx)
	}()
	began := k.trial()
	k.reach(began + 3)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v\n%s", err, out.String())
	}
	if told := out.String(); !strings.Contains(told, "step=0.003 was cut short") ||
		strings.Contains(told, "STAGE") {
		t.Errorf("it says, of a trial that was cut short:\n%s", told)
	}
	text, err := zofl(t, "log", "--url", k.url, "--run", "kitchen", "--json")
	if err != nil || strings.Count(text, `"kind":"rollback"`) != 1 ||
		!strings.Contains(text, fmt.Sprintf(`"to":%d}`, began-1)) {
		t.Errorf("%v: no rollback to record %d in\n%s", err, began-1, text)
	}
	s := k.reach(0)
	if s = k.reach(s.N + 5); s.State == "paused" {
		t.Errorf("the run does not go on: %+v", s)
	}
}

// trial waits until a trial has begun with a change, and returns the change's record.
func (k *kitchen) trial() (began uint64) {
	k.t.Helper()
	for deadline := time.Now().Add(patience); began == 0; {
		text, err := zofl(k.t, "log", "--url", k.url, "--run", "kitchen")
		if err != nil || time.Now().After(deadline) {
			k.t.Fatalf("no trial began: %v\n%s", err, text)
		}
		for _, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "change") {
				fmt.Sscan(line, &began)
			}
		}
	}
	return began
}

// TestTuneARunWhoseCoordinatorRestarts: after a restart of the coordinator, tune tells it again
// when the trial ends.
func TestTuneARunWhoseCoordinatorRestarts(t *testing.T) {
	k := newKitchenOf(t, slow)
	k.device("a")
	k.device("b")
	k.reach(5)
	ended := make(chan error, 1)
	var out await.Text
	go func() {
		cmd := root()
		cmd.SetOut(&out)
		cmd.SetArgs([]string{"tune", "--run", "kitchen", "--url", k.url, "--factors", "30",
			"--rounds", "150", "--json"})
		ended <- cmd.ExecuteContext(t.Context())
	}()
	k.reach(k.trial() + 3)
	stop(t, k.lead)
	k.lead = k.leads()
	if err := <-ended; err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var r liveResult
	decode(t, out.String(), &r)
	if len(r.Trials) != 1 || !(r.Loss < r.Before) || r.Plan.StepSize != 0.03 {
		t.Errorf("got %+v", r)
	}
	s := k.reach(0)
	if s = k.reach(s.N + 5); s.State == "paused" || s.Epoch != 2 {
		t.Errorf("the run does not go on: %+v", s)
	}
}

// TestTuneARunRefuses: tune refuses a run that it cannot tune, with the reason, and the run goes
// on.
func TestTuneARunRefuses(t *testing.T) {
	url := "nats://127.0.0.1:1"
	for _, c := range []struct{ args, want []string }{
		{[]string{"plan.json", "--run", "kitchen", "--url", url}, []string{"plan.json", "--run"}},
		{[]string{"--run", "kitchen"}, []string{"--url"}},
		{[]string{"--run", "a b", "--url", url}, []string{"--run"}},
		{[]string{"--run", "kitchen", "--url", url, "--out", "x"}, []string{"--out", "its own plan"}},
		{[]string{"--run", "kitchen", "--url", url, "--factors", "0"}, []string{"--factors 0"}},
		{[]string{planFile(t, "--dim", "500"), "--factors", "1"}, []string{"--factors", "--run"}},
	} {
		_, err := zofl(t, append([]string{"tune"}, c.args...)...)
		t.Run(strings.Join(c.args, " "), func(t *testing.T) { refused(t, err, c.want) })
	}
	k := newKitchenOf(t, append(slow, "--set", "rounds=1000000"))
	k.device("a")
	k.device("b")
	k.reach(5)
	for _, c := range []struct{ args, want []string }{
		{[]string{"--rounds", "1000000"}, []string{"1000000", "--rounds"}},
		{[]string{"--queries", "5"}, []string{"5 loss evaluations", "give "}},
	} {
		_, err := zofl(t, append([]string{"tune", "--run", "kitchen", "--url", k.url}, c.args...)...)
		if !errors.Is(err, livetune.ErrUnfit) || !hasAll(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
	s := k.reach(0)
	if s = k.reach(s.N + 5); s.State == "paused" {
		t.Errorf("the run does not go on: %+v", s)
	}
	if _, err := k.ask("pause", "--reason", "lunch"); err != nil {
		t.Fatal(err)
	}
	if _, err := zofl(t, "tune", "--run", "kitchen", "--url", k.url); err == nil ||
		!strings.Contains(err.Error(), "lunch") {
		t.Errorf("of a paused run: %v", err)
	}
	if s := k.reach(0); s.State != "paused" || s.Reason != "lunch" {
		t.Errorf("the pause of an operator was lifted: %+v", s)
	}
	if _, err := k.ask("stop"); err != nil {
		t.Fatal(err)
	}
	_, err := zofl(t, "tune", "--run", "kitchen", "--url", k.url)
	want := []string{"ended (requested)", "plan"}
	if !errors.Is(err, livetune.ErrUnfit) || !hasAll(err.Error(), want) {
		t.Errorf("of a run that has ended: %v", err)
	}
}
