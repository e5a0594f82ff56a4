package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/runlist"
	"github.com/zofl/zofl/plan"
)

// A shelf is a source of runs whose history a test sets.
type shelf struct {
	list    []runlist.Run
	history *history.History
}

func (s *shelf) List(context.Context) []runlist.Run { return s.list }

func (s *shelf) History(_ context.Context, key string) ([]history.Point, []history.Mark, bool) {
	for _, r := range s.list {
		if r.Key == key {
			points, marks := s.history.Snapshot(0)
			return points, marks, true
		}
	}
	return nil, nil, false
}

// The list has the runs of this process and of others, each once: a run whose coordinator answers
// is not listed by its log, too. The page gets the curves of each.
func TestRuns(t *testing.T) {
	past := &history.History{}
	for n := uint64(2); n < 5; n++ {
		_ = past.Record(round(n))
	}
	broker := &shelf{history: past, list: []runlist.Run{
		{Key: "run:kitchen", Name: "kitchen", Live: true}, {Key: "run:attic", Name: "attic", Live: true}}}
	dir := &shelf{history: past, list: []runlist.Run{{Key: "dir:attic.log", Name: "attic"},
		{Key: "dir:kitchen", Name: "kitchen", Tags: []string{"old"}}, {Key: "dir:a&b", Name: "a&b"}}}
	l := newLab(t, Config{Others: []runlist.Source{broker, dir}})
	_ = l.history.Record(round(2))
	l.run.status.Rounds = 1
	type answer struct {
		Runs  []string
		List  []runlist.Run
		Leads bool
	}
	_, body := l.answer(l.request("GET", "/api/runs", ""))
	got := decode[answer](t, body)
	var keys []string
	for _, r := range got.List {
		keys = append(keys, r.Key)
	}
	if text := strings.Join(keys, " "); text != "kitchen run:attic dir:kitchen dir:a&b" {
		t.Errorf("listed %s", text)
	}
	if own := got.List[0]; len(got.Runs) != 1 || !own.Led || own.State != "open" || own.Round != 1 ||
		*own.Loss != 0.5 || got.List[2].Tags[0] != "old" {
		t.Errorf("the list is %s", body)
	}
	reads := httptest.NewServer(New(Config{Others: []runlist.Source{dir}}))
	defer reads.Close()
	response, err := http.Get(reads.URL + "/api/runs")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	only := answer{Leads: true}
	if err := json.NewDecoder(response.Body).Decode(&only); err != nil || only.Leads ||
		len(only.List) != 3 || !got.Leads {
		t.Errorf("a server without a run of its own: %+v, %v", only, err)
	}
	for key, rounds := range map[string]int{"kitchen": 1, "run:attic": 3, "dir:a&b": 3} {
		_, body := l.answer(l.request("GET", "/api/curves?run="+url.QueryEscape(key), ""))
		c := decode[struct{ Rounds map[string][]float64 }](t, body)
		if len(c.Rounds["loss"]) != rounds || len(c.Rounds["round"]) != rounds {
			t.Errorf("the curves of %s: %s", key, body)
		}
	}
	if r, body := l.answer(l.request("GET", "/api/curves?run=cellar", "")); r.StatusCode != 404 ||
		!strings.Contains(body, "GET /api/runs") {
		t.Errorf("no run: %d %s", r.StatusCode, body)
	}
}

// Histograms count every device once, in bars of a round width, and name those that stand out.
func TestHistograms(t *testing.T) {
	l := newLab(t, Config{})
	l.run.devices = nil
	for i := range 1000 {
		d := operate.Device{ID: fmt.Sprintf("device-%05d", i), State: "present",
			Latency: 100 + float64(i%50), Contributions: 40}
		switch i {
		case 7:
			d.Latency, d.Contributions = 990, 1
		case 8:
			d.Declines = 12
		case 9:
			d.Latency = 0 // has not answered yet
		}
		l.run.devices = append(l.run.devices, d)
	}
	_, body := l.answer(l.request("GET", "/api/runs/kitchen/histograms", ""))
	list := decode[struct{ Histograms []histogram }](t, body).Histograms
	worst := map[string]string{}
	for _, h := range list {
		sum := 0
		for _, n := range h.Counts {
			sum += n
		}
		if sum != h.Devices || len(h.Edges) != len(h.Counts)+1 || len(h.Counts) > mostBars {
			t.Errorf("%s: %d of %d devices in %d bars, %d edges", h.Name, sum, h.Devices,
				len(h.Counts), len(h.Edges))
		}
		for i := range h.Counts {
			if h.Edges[i+1] <= h.Edges[i] {
				t.Errorf("%s: edges %v", h.Name, h.Edges)
			}
		}
		worst[h.Name] = fmt.Sprint(len(h.Worst), h.Worst[0], h.Devices)
	}
	for name, want := range map[string]string{"latency": "5 {device-00007 990} 999",
		"contributions": "1 {device-00007 1} 1000", "declines": "1 {device-00008 12} 1000"} {
		if worst[name] != want {
			t.Errorf("%s: %s, want %s", name, worst[name], want)
		}
	}
}

// A histogram has a bar for any values.
func TestHistogramOfFew(t *testing.T) {
	for _, values := range [][]float64{nil, {0}, {3}, {0.25, 0.25}, {1e-9, 2e-9}, {0, 1e9}, {4, 5}} {
		for _, whole := range []bool{false, true} {
			var all []extreme
			for i, v := range values {
				all = append(all, extreme{fmt.Sprint(i), v})
			}
			h := histogramOf(all, whole, false)
			if len(h.Counts) < 1 || len(h.Counts) > mostBars || len(h.Edges) != len(h.Counts)+1 {
				t.Errorf("%v: %d bars, edges %v", values, len(h.Counts), h.Edges)
			}
		}
	}
}

// The page says which columns a device has something in, and the run's tags.
func TestColumnsAndTags(t *testing.T) {
	l := newLab(t, Config{})
	l.run.devices = []operate.Device{{ID: "a", State: "present"}, {ID: "b", State: "present"}}
	l.history.Lead(t.Context(), reporter{}, nil, nil)
	l.history.Tag([]string{"rate=0.1"})
	tells := func() string { return fmt.Sprint((&listing{}).summary(l.run, false).Tells) }
	if got := tells(); got != "[]" {
		t.Errorf("columns %s", got)
	}
	l.run.devices[1].Power, l.run.devices[0].Program = "charging", "zofl"
	l.run.status.Digests = []operate.Digests{{N: 3, Differ: []string{"a"}}}
	if got := tells(); got != "[program battery digest]" {
		t.Errorf("columns %s", got)
	}
	_, body := l.answer(l.request("GET", "/api/runs", ""))
	if !strings.Contains(body, `"tags":["rate=0.1"]`) {
		t.Errorf("the list is %s", body)
	}
}

// A reporter is a coordinator that has just begun.
type reporter struct{}

func (reporter) Plan() plan.Plan       { return plan.Plan{Run: "kitchen", Dim: 3} }
func (reporter) Status() report.Status { return report.Status{} }
