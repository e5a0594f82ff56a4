package history

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire/deviceinfo"
)

func reportOf(id string, values deviceinfo.Values) report.Event {
	return report.Event{Kind: report.Reported, ID: id, Values: values}
}

// TestReported: a point has the last values of each reporter since the point before, by name.
func TestReported(t *testing.T) {
	var h History
	defer h.Lead(t.Context(), newRun(t), nil, nil)()
	record(t, &h, reportOf("a", deviceinfo.Values{"heat": 70, "acc": 0.5}),
		reportOf("a", deviceinfo.Values{"heat": 30}), reportOf("b", deviceinfo.Values{"heat": 40}),
		reportOf("c", deviceinfo.Values{"heat": 1000}), reportOf("", deviceinfo.Values{"cost": 7}),
		round(2), round(3), reportOf("b", deviceinfo.Values{"heat": 41}),
		reportOf("a", deviceinfo.Values{"heat": 31}), round(4))
	points, _ := h.Snapshot(0)
	want := []map[string]Reported{
		{"heat": {40, 30, 1000, 3}, "acc": {0.5, 0.5, 0.5, 1}, "cost": {7, 7, 7, 1}},
		nil,
		{"heat": {36, 31, 41, 2}},
	}
	for i, p := range points {
		if !reflect.DeepEqual(p.Reported, want[i]) {
			t.Errorf("record %d: %v, want %v", p.N, p.Reported, want[i])
		}
	}
	last := h.LastReported()
	if len(last) != 3 || last["heat"].Median != 36 || last["cost"].Median != 7 {
		t.Errorf("last reported: %v", last)
	}
	if got := fmt.Sprint(ReportedNames(points)); got != "[acc cost heat]" {
		t.Errorf("names %s", got)
	}
	if p, _ := h.Last(); p.N != 4 || p.Reported["heat"].Max != 41 {
		t.Errorf("the last round has %+v", p)
	}
	record(t, &h, evaluation(4, 0.5))
	if p, _ := h.Last(); p.Reported["heat"].Max != 41 || p.Evaluation == nil {
		t.Errorf("after an evaluation the round has %+v", p)
	}
}

// TestReportedAtTheEnd: what devices report after the last round, and after the end, is in the last
// point, also in the store.
func TestReportedAtTheEnd(t *testing.T) {
	var h History
	dir := t.TempDir()
	stop := h.Lead(t.Context(), newRun(t), Dir(dir), logger(t))
	record(t, &h, reportOf("a", deviceinfo.Values{"acc": 0.5}), round(2),
		reportOf("a", deviceinfo.Values{"acc": 0.7, "heat": 30}),
		report.Event{Kind: report.RunEnded, N: 3},
		reportOf("b", deviceinfo.Values{"acc": 0.9}), reportOf("c", deviceinfo.Values{"acc": 0.6}))
	stop()
	read, _, err := Read(t.Context(), DirToRead(dir))
	if err != nil {
		t.Fatal(err)
	}
	points, _ := read.Snapshot(0)
	want := map[string]Reported{"acc": {0.7, 0.6, 0.9, 3}, "heat": {30, 30, 30, 1}}
	if len(points) != 1 || !reflect.DeepEqual(points[0].Reported, want) {
		t.Errorf("stored %+v, want %v", points, want)
	}
}

// TestHostileReports: a device that invents names neither fills the memory nor pushes out names of
// several devices.
func TestHostileReports(t *testing.T) {
	var h History
	defer h.Lead(t.Context(), newRun(t), nil, nil)()
	for i := range 1000 {
		values := deviceinfo.Values{}
		for j := range deviceinfo.MaxValues {
			values[fmt.Sprintf("a%d_%d", i, j)] = 1 // sorts before the honest name
		}
		record(t, &h, reportOf(fmt.Sprint("liar", i%8), values))
	}
	kept := 0
	for _, values := range h.reports {
		kept += len(values)
	}
	if kept > 8*deviceinfo.MaxValues {
		t.Errorf("%d values are kept", kept)
	}
	record(t, &h, reportOf("a", deviceinfo.Values{"heat": 1}),
		reportOf("b", deviceinfo.Values{"heat": 2}), round(2))
	p, _ := h.Last()
	if len(p.Reported) != mostReported || p.Reported["heat"].Reporters != 2 {
		t.Errorf("the point has %d names: %v", len(p.Reported), p.Reported)
	}
}

// TestTooLate: an honest fleet that is slower than the deadline sends much that is too late. That
// is counted apart from what the coordinator refused.
func TestTooLate(t *testing.T) {
	p := Point{N: 2, Rejected: map[string]uint64{"late": 870, "malformed": 3, "wrong tip": 1}}
	if p.Dropped() != 4 || p.TooLate() != 870 {
		t.Errorf("%d dropped, %d too late", p.Dropped(), p.TooLate())
	}
	found := map[string]float64{}
	for _, f := range Figures {
		found[f.Name] = f.Of(&p)
	}
	if found["rejected"] != 4 || found["too_late"] != 870 {
		t.Errorf("figures %v", found)
	}
}
