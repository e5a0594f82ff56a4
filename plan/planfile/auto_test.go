package planfile_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/valid"
)

// set sets a field, and ends the test on an error.
func set(t *testing.T, p *plan.Plan, name, text string) {
	t.Helper()
	if err := planfile.Set(p, name, text); err != nil {
		t.Fatal(err)
	}
}

func TestMuAuto(t *testing.T) {
	p := testPlan(t)
	set(t, p, "mu", "auto")
	if p.MuAuto != 1 || p.Mu != 0 {
		t.Fatalf("mu=auto: mu_auto %d, mu %v", p.MuAuto, p.Mu)
	}
	if err := valid.Plan(p); err != nil {
		t.Error(err)
	}
	b, err := json.Marshal((*planfile.Plan)(p))
	if err != nil || !strings.Contains(string(b), `"mu":"auto"`) ||
		strings.Contains(string(b), "mu_auto") {
		t.Errorf("written as %s, %v", b, err)
	}
	got, err := planfile.Read(strings.NewReader(string(b)))
	if err != nil || got.MuAuto != 1 || got.Mu != 0 {
		t.Errorf("read again: %+v, %v", got, err)
	}
	p.Mu = 0.5 // as devices found it
	if b, err = json.Marshal((*planfile.Plan)(p)); err != nil ||
		!strings.Contains(string(b), `"mu":0.5`) || !strings.Contains(string(b), `"mu_auto":"on"`) {
		t.Errorf("written as %s, %v", b, err)
	}
	if got, err = planfile.Read(strings.NewReader(string(b))); err != nil || got.MuAuto != 1 ||
		got.Mu != 0.5 {
		t.Errorf("read again: %+v, %v", got, err)
	}
	set(t, p, "mu", "0.25")
	if p.MuAuto != 0 || p.Mu != 0.25 {
		t.Errorf("mu=0.25: mu_auto %d, mu %v", p.MuAuto, p.Mu)
	}
}

func TestStepAuto(t *testing.T) {
	p := testPlan(t)
	set(t, p, "server_rule", "normalized")
	set(t, p, "step", "auto")
	if p.StepAuto != 1 || p.StepSize != 0 || valid.Plan(p) != nil {
		t.Fatalf("step=auto: step_auto %d, step %v, %v", p.StepAuto, p.StepSize, valid.Plan(p))
	}
	b, err := json.Marshal((*planfile.Plan)(p))
	if err != nil || !strings.Contains(string(b), `"step":"auto"`) ||
		strings.Contains(string(b), "step_auto") {
		t.Errorf("written as %s, %v", b, err)
	}
	got, err := planfile.Read(strings.NewReader(string(b)))
	if err != nil || got.StepAuto != 1 || got.StepSize != 0 {
		t.Errorf("read again: %+v, %v", got, err)
	}
	set(t, p, "step", "0.25")
	if p.StepAuto != 0 || p.StepSize != 0.25 {
		t.Errorf("step=0.25: step_auto %d, step %v", p.StepAuto, p.StepSize)
	}
}

// Only mu, step and perturbations may be auto.
func TestAutoFaults(t *testing.T) {
	var fault *plan.Error
	for _, name := range []string{"steps", "server_step", "beta", "rule", "run"} {
		if err := planfile.Set(testPlan(t), name, "auto"); name != "run" && !errors.As(err, &fault) {
			t.Errorf("%s=auto: %v", name, err)
		}
	}
	for _, file := range []string{`{"mu":"Auto"}`, `{"beta":"auto"}`, `{"mu":auto}`} {
		if err := json.Unmarshal([]byte(file), (*planfile.Plan)(testPlan(t))); err == nil {
			t.Errorf("%s is read", file)
		}
	}
	p := testPlan(t)
	p.Mu = 0
	if err := valid.Plan(p); !errors.As(err, &fault) || fault.Field != "mu" {
		t.Errorf("mu=0 without mu_auto: %v", err)
	}
	p.MuAuto, p.Mu = 1, -1
	if err := valid.Plan(p); !errors.As(err, &fault) || fault.Field != "mu" {
		t.Errorf("mu=-1 with mu_auto: %v", err)
	}
}

// A change to auto makes the devices find the value again.
func TestChangeToAuto(t *testing.T) {
	c := plan.Change{}
	if err := planfile.SetChange(&c, "mu", "auto"); err != nil {
		t.Fatal(err)
	}
	p := testPlan(t)
	c.Apply(p)
	if err := valid.Plan(p); err == nil {
		t.Error("a plan without mu_auto takes it")
	}
	p.MuAuto = 1
	if err := valid.Plan(p); err != nil || p.Mu != 0 {
		t.Errorf("mu %v, %v", p.Mu, err)
	}
	if planfile.Auto(&c, p); len(c.Fields) != 1 {
		t.Errorf("a plan that has mu_auto gets %v", c.Fields)
	}
	p.MuAuto, p.Mu = 0, 0.01
	planfile.Auto(&c, p)
	c.Apply(p)
	if err := valid.Plan(p); err != nil || p.Mu != 0 || p.MuAuto != 1 || len(c.Fields) != 2 {
		t.Errorf("a plan that had a number: mu %v, mu_auto %d, %v", p.Mu, p.MuAuto, err)
	}
	number := plan.Change{}
	if err := planfile.SetChange(&number, "mu", "0.5"); err != nil {
		t.Fatal(err)
	}
	if planfile.Auto(&number, testPlan(t)); len(number.Fields) != 1 {
		t.Errorf("a number gets %v", number.Fields)
	}
}

// TestPerturbationsAuto: perturbations=auto keeps the number with which a run begins, and a plan
// without differences is written and read without mu.
func TestPerturbationsAuto(t *testing.T) {
	p := testPlan(t)
	for _, s := range [][2]string{{"server_rule", "cma"}, {"difference", "none"}, {"mu", "0"},
		{"perturbations", "12"}, {"perturbations", "auto"}, {"restarts", "2"}} {
		set(t, p, s[0], s[1])
	}
	if err := valid.Plan(p); err != nil || p.PerturbationsAuto != 1 || p.Perturbations != 12 {
		t.Fatalf("%v: %+v", err, p.ProbeFields)
	}
	b, err := json.Marshal((*planfile.Plan)(p))
	if err != nil {
		t.Fatal(err)
	}
	got, err := planfile.Read(strings.NewReader(string(b)))
	if err != nil || got.Mu != 0 || got.PerturbationsAuto != 1 || got.Restarts != 2 ||
		valid.Plan(got) != nil {
		t.Errorf("%s is read as %+v: %v", b, got, err)
	}
}
