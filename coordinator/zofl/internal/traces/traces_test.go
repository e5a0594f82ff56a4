package traces

import (
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire/survey"
)

// A collector stores the spans that it receives.
type collector struct {
	*httptest.Server
	mu       sync.Mutex // guards the rest
	code     int
	requests []*http.Request
	data     []*trace.TracesData
}

func newCollector(t *testing.T) *collector {
	c := &collector{code: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		data := &trace.TracesData{}
		if err == nil {
			err = proto.Unmarshal(body, data)
		}
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests, c.data = append(c.requests, r), append(c.data, data)
		w.WriteHeader(c.code)
	}))
	t.Cleanup(c.Close)
	return c
}

// spans are those of all requests, by name.
func (c *collector) spans() map[string][]*trace.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := map[string][]*trace.Span{}
	for _, d := range c.data {
		for _, r := range d.ResourceSpans {
			for _, s := range r.ScopeSpans[0].Spans {
				got[s.Name] = append(got[s.Name], s)
			}
		}
	}
	return got
}

func value(s *trace.Span, key string) any {
	for _, a := range s.Attributes {
		if a.Key == key {
			switch {
			case a.Value.GetStringValue() != "":
				return a.Value.GetStringValue()
			case a.Value.GetDoubleValue() != 0:
				return a.Value.GetDoubleValue()
			}
			return a.Value.GetIntValue()
		}
	}
	return nil
}

func seconds(s *trace.Span) float64 {
	return float64(s.EndTimeUnixNano-s.StartTimeUnixNano) / 1e9
}

// Rounds, phases, pauses and surveys become spans with their durations and their results.
func TestSpans(t *testing.T) {
	t.Setenv(HeadersVariable, "authorization=Bearer%20abc, x-scope = one")
	c := newCollector(t)
	x := Start(c.URL, "kitchen", slog.New(slog.DiscardHandler))
	for _, e := range []report.Event{
		{Kind: report.RoundDone, N: 2, Round: 1, Seconds: 1.5, Contributors: 4, Asked: 5, Loss: 0.25,
			Step: 0.5, Perturbations: 10, Attempt: 1},
		{Kind: report.PhaseDone, N: 3, Round: 1, Seconds: 2, Contributors: 4},
		{Kind: report.RoundDone, N: 4, Round: 2, Seconds: 0.5, Contributors: 3,
			Loss: float32(math.NaN())},
		{Kind: report.Surveyed, N: 5, Seconds: 0.25, Survey: survey.Result{Kind: "mu"}},
		{Kind: report.RunPaused, N: 5, Reason: "tea"},
		{Kind: report.RunPaused, N: 5, Reason: "still tea"},
		{Kind: report.RunResumed, N: 5},
		{Kind: report.RunResumed, N: 5},
		{Kind: report.Joined, ID: "a"},
	} {
		if err := x.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	x.Close()
	got := c.spans()
	if len(got["round"]) != 2 || len(got["phase 1"]) != 1 || len(got["phase 2"]) != 1 ||
		len(got["survey"]) != 1 || len(got["pause"]) != 1 || len(got) != 5 {
		t.Fatalf("spans %v", got)
	}
	one, two := got["round"][0], got["round"][1]
	for key, want := range map[string]any{"zofl.record": int64(2), "zofl.round": int64(1),
		"zofl.attempts": int64(2), "zofl.devices.asked": int64(5),
		"zofl.devices.contributors": int64(4), "zofl.loss": 0.25, "zofl.step": 0.5,
		"zofl.perturbations": int64(10)} {
		if v := value(one, key); v != want {
			t.Errorf("%s is %v, want %v", key, v, want)
		}
	}
	if d := seconds(one); math.Abs(d-1.5) > 1e-6 || len(one.TraceId) != 16 || len(one.SpanId) != 8 ||
		one.ParentSpanId != nil {
		t.Errorf("a round of %v s: %v", d, one)
	}
	first, second := got["phase 1"][0], got["phase 2"][0]
	if string(first.TraceId) != string(two.TraceId) ||
		string(first.ParentSpanId) != string(two.SpanId) ||
		string(second.ParentSpanId) != string(two.SpanId) ||
		string(one.TraceId) == string(two.TraceId) ||
		two.StartTimeUnixNano != first.StartTimeUnixNano {
		t.Errorf("a round %v of phases %v and %v", two, first, second)
	}
	if value(two, "zofl.loss") != nil || value(got["pause"][0], "zofl.reason") != "tea" ||
		value(got["survey"][0], "zofl.survey") != "mu" {
		t.Errorf("spans %v", got)
	}
	r := c.requests[0]
	if r.URL.Path != "/v1/traces" || r.Header.Get("Authorization") != "Bearer abc" ||
		r.Header.Get("X-Scope") != "one" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("asked %s with %v", r.URL, r.Header)
	}
}

// If the collector refuses requests or does not exist, spans are lost, and the exporter logs one
// line.
func TestCollectorFails(t *testing.T) {
	c := newCollector(t)
	c.code = http.StatusTooManyRequests
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for url, want := range map[string]string{c.URL + "/custom": "429", gone.URL: "refused"} {
		var log strings.Builder
		x := Start(url, "kitchen", slog.New(slog.NewTextHandler(&log, nil)))
		for n := range uint64(3*queued + 5) {
			if err := x.Record(report.Event{Kind: report.RoundDone, N: n}); err != nil {
				t.Fatal(err)
			}
		}
		x.Close()
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, want) {
			t.Errorf("%s: log %q, want one line with %q", url, text, want)
		}
	}
	if path := c.requests[0].URL.Path; path != "/custom" {
		t.Errorf("asked %s", path)
	}
}

func TestCheck(t *testing.T) {
	for _, good := range []string{"http://127.0.0.1:4318", "https://collector/v1/traces"} {
		if err := Check(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"127.0.0.1:4318", "grpc://x:1", "http://", "http://a:b@c", ""} {
		if Check(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
