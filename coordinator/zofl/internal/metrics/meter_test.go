package metrics

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/plan/preset"
)

// A fakeRun is a [history.Run] for tests.
type fakeRun struct {
	mu     sync.Mutex // guards what follows
	plan   plan.Plan
	status report.Status
}

func (r *fakeRun) Plan() plan.Plan {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.plan
}

func (r *fakeRun) Status() report.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// newMeter returns the metrics of a run with events of every kind.
func newMeter(t testing.TB) (*Meter, *fakeRun) {
	t.Helper()
	p, err := preset.Unbound("decomfl", "kitchen", 20)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.Metrics = make(plan.Bytes, 32), []string{"accuracy", "f1"}
	run := &fakeRun{plan: *p, status: report.Status{Run: "kitchen", State: report.Open, N: 7,
		Rounds: 5, Epoch: 2, Members: 9, Present: 8, Privacy: &dp.Budget{Epsilon: 1.5},
		Counters:   report.Counters{Contributions: 20, NonFinite: 3, CatchUpBytes: 1 << 20},
		TurnedAway: map[string]uint64{"joins": 4},
		Digests:    []report.DigestReports{{Differing: 2}, {Differing: 1}}}}
	h := &history.History{}
	h.Lead(t.Context(), run, nil, nil)
	m := New(h)
	m.Lead(run)
	for _, e := range []report.Event{
		{Kind: report.Joined, ID: "secret-name"},
		{Kind: report.RoundDone, N: 6, Round: 4, Contributors: 3, Loss: 1, Seconds: 0.02},
		{Kind: report.RoundDone, N: 7, Round: 5, Contributors: 2, Asked: 4, Late: 1, Declines: 1,
			Loss: 0.5, Seconds: 7, Step: 2, RoundStep: 0.25, Perturbations: 10},
		{Kind: report.Evaluated, N: 7, Evaluation: report.Evaluation{N: 7, Count: 2,
			Metrics: []float32{0.75, float32(math.NaN())}}},
		{Kind: report.RunPaused, N: 7, Reason: "lunch"},
	} {
		for _, r := range []report.Recorder{h, m} {
			if err := r.Record(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m, run
}

// scrape returns the text that Prometheus gets.
func scrape(t testing.TB, m *Meter) string {
	t.Helper()
	s := httptest.NewServer(m.Handler())
	defer s.Close()
	r, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", r.Status, err, b)
	}
	return string(b)
}

func TestScrape(t *testing.T) {
	m, _ := newMeter(t)
	text := scrape(t, m)
	for _, want := range []string{
		`zofl_rounds_total{run="kitchen"} 2`,
		`zofl_round_duration_seconds_bucket{run="kitchen",le="0.03"} 1`,
		`zofl_round_duration_seconds_sum{run="kitchen"} 7.02`,
		`zofl_round_duration_seconds_count{run="kitchen"} 2`,
		`zofl_evaluations_total{run="kitchen"} 1`,
		`zofl_events_total{event="paused",run="kitchen"} 1`,
		`zofl_state{run="kitchen",state="open"} 1`, `zofl_state{run="kitchen",state="paused"} 0`,
		`zofl_records{run="kitchen"} 7`, `zofl_round{run="kitchen"} 5`,
		`zofl_epoch{run="kitchen"} 2`, `zofl_members{run="kitchen"} 9`,
		`zofl_present_members{run="kitchen"} 8`, `zofl_loss{run="kitchen"} 0.5`,
		`zofl_evaluation_metric{metric="accuracy",run="kitchen"} 0.75`,
		`zofl_evaluation_metric{metric="f1",run="kitchen"} NaN`,
		`zofl_evaluation_devices{run="kitchen"} 2`,
		`zofl_round_contributors{run="kitchen"} 2`, `zofl_round_asked_devices{run="kitchen"} 4`,
		`zofl_round_late_contributors{run="kitchen"} 1`, `zofl_round_declines{run="kitchen"} 1`,
		`zofl_step{run="kitchen"} 2`, `zofl_round_step{run="kitchen"} 0.25`,
		`zofl_perturbations{run="kitchen"} 10`,
		`zofl_privacy_epsilon{run="kitchen"} 1.5`, `zofl_differing_devices{run="kitchen"} 2`,
		`zofl_replies_total{result="contribution",run="kitchen"} 20`,
		`zofl_replies_total{result="non_finite",run="kitchen"} 3`,
		`zofl_turned_away_total{kind="joins",run="kitchen"} 4`,
		`zofl_catch_up_bytes_total{run="kitchen"} 1.048576e+06`,
		`zofl_device_round_bytes{direction="up",run="kitchen"} `,
		`zofl_device_queries_total{run="kitchen"} `,
		`zofl_log_failing{run="kitchen"} 0`, `zofl_suspect_devices{run="kitchen"} 0`,
		`zofl_build_info{version="`, "go_goroutines ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret-name") {
		t.Error("a metric has the id of a device")
	}
}

// With any number of devices and events, the number of series stays small.
func TestFewSeries(t *testing.T) {
	m, _ := newMeter(t)
	for i := range 10_000 {
		for kind := report.RoundDone; kind <= report.Surveyed; kind++ {
			if err := m.Record(report.Event{Kind: kind, N: 8, ID: fmt.Sprint(i),
				Reason: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	series := regexp.MustCompile(`(?m)^zofl_`).FindAllString(scrape(t, m), -1)
	if len(series) > 200 {
		t.Errorf("%d series", len(series))
	}
}

// Without a coordinator, a scrape has only the metrics of the process.
func TestNobodyLeads(t *testing.T) {
	m := New(&history.History{})
	if err := m.Record(report.Event{Kind: report.RoundDone}); err != nil {
		t.Fatal(err)
	}
	if text := scrape(t, m); !strings.Contains(text, "zofl_build_info") ||
		strings.Contains(text, "zofl_records") {
		t.Errorf("scrape\n%s", text)
	}
}

// Scrapes and events happen at the same time.
func TestScrapesAndEvents(t *testing.T) {
	m, run := newMeter(t)
	var wait sync.WaitGroup
	wait.Go(func() {
		for range 20 {
			scrape(t, m)
		}
	})
	wait.Go(func() {
		for i := range uint64(2000) {
			_ = m.Record(report.Event{Kind: report.RoundDone, N: i, Seconds: 1})
			run.mu.Lock()
			run.status.N++
			run.mu.Unlock()
		}
	})
	wait.Wait()
}

func TestLint(t *testing.T) {
	m, _ := newMeter(t)
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %+v", err, problems)
	}
}

// TestPromtool asks Prometheus's own program, which ZOFL_PROMTOOL names. check.sh all does.
func TestPromtool(t *testing.T) {
	tool := os.Getenv("ZOFL_PROMTOOL")
	if tool == "" {
		var err error
		if tool, err = exec.LookPath("promtool"); err != nil {
			t.Skip("promtool is missing: apt-get install prometheus")
		}
	}
	m, _ := newMeter(t)
	cmd := exec.Command(tool, "check", "metrics")
	cmd.Stdin = strings.NewReader(scrape(t, m))
	if out, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}
