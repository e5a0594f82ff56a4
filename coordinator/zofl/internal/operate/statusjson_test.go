package operate

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

func TestStatusJSON(t *testing.T) {
	b, err := json.Marshal(StatusOf(report.Status{
		Run: "r", State: report.Ended, End: &wire.End{Reason: wire.EndMetric,
			Text: "0.9 reached"}, N: 7, Phase: 2,
		Evaluation: report.Evaluation{N: 6, Count: 2, Metrics: []float32{0.5}},
		Digests: []report.DigestReports{{N: 4,
			Values: []report.DigestCount{{Digest: [8]byte{0xab}, Devices: 3}},
			Source: "w", Reference: [8]byte{0xcd}, Differing: 3, Differ: []string{"a", "b", "c"}}},
		Reference: &report.Reference{N: 4, Digest: [8]byte{0xcd}}, LogError: "full",
		Best:     &report.Best{Metric: "f1", N: 4, Round: 3, Value: 0.5, Devices: 2, Since: 1},
		Privacy:  &dp.Budget{Epsilon: 1.5, Delta: 1e-5},
		Counters: report.Counters{Late: 2, Duplicate: 3, Joins: 4},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"state":"ended"`, `"end":"metric"`, `"reason":"0.9 reached"`,
		`"n":7`, `"phase":2`,
		`"best":{"metric":"f1","n":4,"round":3,"value":0.5,"devices":2,"since":1}`,
		`"metrics":[0.5]`, `"ab00000000000000":3`, `"source":"w"`, `"differ":["a","b","c"]`,
		`"reference":{"n":4,"digest":"cd00000000000000"}`, `"log_error":"full"`, `"Late":2`,
		`"privacy":{"epsilon":1.5,"delta":0.00001}`, `"dropped":5`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s has no %s", b, want)
		}
	}
}

// Asks says what a survey asks for and how many devices have answered. It returns "" for a round.
func TestSurveyInStatus(t *testing.T) {
	for want, s := range map[string]report.Status{
		"":                                     {Asked: 3, Contributions: 1},
		"losses to find mu; answers so far: 1": {Survey: "mu", Contributions: 1},
		"losses to find the first sigma; answers so far: 1 of 3": {Survey: "sigma", Asked: 3,
			Contributions: 1},
		"losses to find the step; answers so far: 2":    {Survey: "step", Contributions: 2},
		"slopes to group devices by; answers so far: 0": {Survey: "sketch"},
	} {
		status := StatusOf(s)
		b, err := json.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		if got := status.Asks(); got != want {
			t.Errorf("a survey of %v asks for %q, want %q", s.Survey, got, want)
		}
		field := `"survey":"` + s.Survey + `"`
		if strings.Contains(string(b), field) != (s.Survey != "") ||
			s.Survey == "" && strings.Contains(string(b), "survey") {
			t.Errorf("a survey of %v has the status %s", s.Survey, b)
		}
	}
}

// A change waits for the open round, and its status is then pending.
func TestChangePends(t *testing.T) {
	l := newLab(t)
	nc := l.connect("coordinator")
	p, err := preset.Unbound("decomfl", "kitchen", 3)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.Members, p.Target, p.Quorum, p.Deadline = make(plan.Bytes, 32), 1, 1, 1, 3_600_000
	log := &runlog.Memory{}
	watch := &Watch{}
	c, err := coordinator.New(t.Context(), coordinator.Config{Conn: nc, Plan: p, Log: log,
		Recorder: watch})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { c.Run(ctx); close(ended) }()
	defer func() { cancel(); <-ended }()
	stop, err := Serve(nc, NewDesk(c, watch))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	for l.must(VerbStatus, Request{}).N == 0 {
	}
	join := (&wire.JoinRequest{}).Append(nil)
	for {
		if _, err := nc.Request(subjects.Join("kitchen", "silent"), join, patience); err == nil {
			break
		}
	}
	for l.must(VerbStatus, Request{}).State != "open" {
	}
	if s := l.must(VerbChange, Request{Fields: []string{"step=0.5"}}); !s.Pending || s.N != 1 {
		t.Errorf("a change behind an open round: %+v, want it pending", s)
	}
}
