package history

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A fakeRun is a [Run] for tests.
type fakeRun struct {
	mu     sync.Mutex // guards what follows
	plan   plan.Plan
	status report.Status
}

func newRun(t testing.TB) *fakeRun {
	t.Helper()
	return must(makeRun())(t)
}

func makeRun() (*fakeRun, error) {
	p, err := preset.Unbound("decomfl", "kitchen", 20)
	if err != nil {
		return nil, err
	}
	p.RunKey, p.Metrics = make(plan.Bytes, 32), []string{"accuracy", "f1"}
	return &fakeRun{plan: *p}, nil
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

func (r *fakeRun) dropped(late uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Counters.Late += late
}

func round(n uint64) report.Event {
	return report.Event{Kind: report.RoundDone, N: n, Round: n - 1, Loss: 1 / float32(n),
		Perturbations: 8, Contributors: 3, Asked: 4, Declines: 1, Seconds: 0.25, Step: 0.5}
}

func evaluation(n uint64, values ...float32) report.Event {
	return report.Event{Kind: report.Evaluated, N: n + 1, Evaluation: report.Evaluation{N: n,
		Count: 2, Asked: 3, Samples: 70, Metrics: values}}
}

func record(t testing.TB, h *History, events ...report.Event) {
	t.Helper()
	for _, e := range events {
		if err := h.Record(e); err != nil {
			t.Fatal(err)
		}
	}
}

// ns returns the record numbers of points, and fails the test unless they ascend.
func ns(t testing.TB, points []Point) (list []uint64) {
	t.Helper()
	for i, p := range points {
		if i > 0 && p.N <= points[i-1].N {
			t.Fatalf("a point of record %d after one of %d", p.N, points[i-1].N)
		}
		list = append(list, p.N)
	}
	return list
}

func TestPoints(t *testing.T) {
	var h History
	run := newRun(t)
	run.status.Counters.Late = 5 // before this history
	h.Lead(t.Context(), run, nil, nil)
	run.dropped(2)
	record(t, &h, evaluation(1, 0.1, 0.2), round(2))
	exploded := round(3)
	exploded.Loss = float32(math.Inf(1))
	exploded.Privacy = &dp.Budget{Epsilon: 1.5}
	record(t, &h, exploded, evaluation(3, 0.5, float32(math.NaN())))
	first := round(4)
	first.Kind = report.PhaseDone
	record(t, &h, first, round(5), report.Event{Kind: report.Joined, N: 5})
	points, marks := h.Snapshot(0)
	if got := ns(t, points); !slices.Equal(got, []uint64{1, 2, 3, 4, 5}) {
		t.Fatalf("points of records %v", got)
	}
	plan := run.plan
	price := cost.Of(&plan, cost.Input{Round: 1})
	p := points[1]
	if *p.Loss != 0.5 || p.Contributors != 3 || p.Asked != 4 || p.Declines != 1 ||
		p.Rejected["late"] != 2 || p.BytesUp != uint64(price.Up.Socket) || p.BytesUp == 0 ||
		p.BytesDown != uint64(price.Down.Socket) || p.Queries != price.Queries || p.Queries == 0 {
		t.Errorf("the point of record 2 is %+v, the price %+v", p, price)
	}
	if p = points[2]; p.Loss != nil || p.Epsilon != 1.5 || p.Rejected != nil ||
		p.Queries != 2*price.Queries || p.Evaluation.Devices != 2 || p.Evaluation.Samples != 70 ||
		*p.Evaluation.Metrics["accuracy"] != 0.5 || p.Evaluation.Metrics["f1"] != nil {
		t.Errorf("the point of record 3 is %+v, %+v", p, p.Evaluation)
	}
	if p = points[3]; p.Phase != 1 || p.BytesUp != 0 || p.Queries != 2*price.Queries {
		t.Errorf("the point of a first phase is %+v", p)
	}
	if p = points[0]; p.Contributors != 0 || p.Evaluation == nil {
		t.Errorf("the point of the plan's record is %+v", p)
	}
	if len(marks) != 1 || marks[0].Kind != Began {
		t.Errorf("marks %+v", marks)
	}
	b, err := json.Marshal(points[2])
	if err != nil || !strings.Contains(string(b), `"loss":null`) ||
		!strings.Contains(string(b), `"f1":null`) {
		t.Errorf("%s, %v, want null for what is not finite", b, err)
	}
	if points, _ = h.Snapshot(4); len(points) != 2 {
		t.Errorf("%d points from record 4 on", len(points))
	}
}

// TestPriceOfSecureSums: the bytes of a round's point equal those of `zofl plan`, including the
// messages of secure aggregation.
func TestPriceOfSecureSums(t *testing.T) {
	var h History
	run := newRun(t)
	run.plan.Secure, run.plan.MaxScalar, run.plan.EvalEvery = 1, 1000, 0
	h.Lead(t.Context(), run, nil, nil)
	record(t, &h, round(2))
	plan, sum := run.plan, uint64(0)
	for _, n := range cost.Secure(&plan, cost.Input{}).Up {
		sum += uint64(n)
	}
	points, _ := h.Snapshot(0)
	if p := points[0]; p.BytesUp <= sum || p.BytesUp != uint64(cost.Of(&plan,
		cost.Input{Round: 1}).Up.Socket) {
		t.Errorf("%d bytes up, and steps of secure aggregation alone have %d", p.BytesUp, sum)
	}
}

// A change of the plan changes the price of a round.
func TestPricesFollowThePlan(t *testing.T) {
	var h History
	run := newRun(t)
	h.Lead(t.Context(), run, nil, nil)
	record(t, &h, round(2))
	run.plan.Perturbations *= 4
	plan := run.plan
	want := cost.Of(&plan, cost.Input{Round: 3}).Queries
	record(t, &h, report.Event{Kind: report.Changed, N: 3}, round(4))
	points, _ := h.Snapshot(0)
	if asks := points[1].Queries - points[0].Queries; asks != want || asks == points[0].Queries {
		t.Errorf("%d queries in a round of four times as many directions, want %d; %d before", asks,
			want, points[0].Queries)
	}
}

func TestMarks(t *testing.T) {
	var h History
	record(t, &h,
		report.Event{Kind: report.RunPaused, N: 2, Reason: "lunch"},
		report.Event{Kind: report.RunResumed, N: 2},
		report.Event{Kind: report.RunPaused, N: 3, Reason: "nan", Diverged: true},
		report.Event{Kind: report.Changed, N: 4, Fields: []string{"step"}},
		report.Event{Kind: report.RolledBack, N: 5, To: 2},
		report.Event{Kind: report.DigestsDiffer, N: 6, Digests: report.DigestReports{N: 4,
			Differ: []string{"a", "b"}}},
		report.Event{Kind: report.Adopted, N: 6, Epoch: 9, Record: wire.KindRound},
		report.Event{Kind: report.Surveyed, N: 7, Fields: []string{"mu"},
			Survey: survey.Result{Kind: "mu", Value: 0.0316227, Why: "straight"}},
		report.Event{Kind: report.Surveyed, N: 7,
			Survey: survey.Result{Kind: "groups", Why: "own directions"}},
		report.Event{Kind: report.RunEnded, N: 8, End: wire.End{Reason: wire.EndMetric, Text: "0.9"}})
	_, marks := h.Snapshot(3)
	want := []struct {
		kind Kind
		text string
		to   uint64
	}{{Diverged, "nan", 0}, {Changed, "", 0}, {RolledBack, "", 2}, {Digests, "a, b", 4},
		{Adopted, "round", 9}, {Surveyed, "0.03162, straight", 0},
		{Surveyed, "own directions", 0}, {Ended, "metric: 0.9", 0}}
	if len(marks) != len(want) {
		t.Fatalf("%d marks: %+v", len(marks), marks)
	}
	for i, w := range want {
		if m := marks[i]; m.Kind != w.kind || m.Text != w.text || m.To != w.to || m.Time.IsZero() {
			t.Errorf("mark %d is %+v, want %+v", i, m, w)
		}
	}
	if _, marks = h.Snapshot(0); marks[0].Kind != Paused || marks[0].Text != "lunch" {
		t.Errorf("the first mark is %+v", marks[0])
	}
}

// TestInVain: the history has marks of members whose contributions do not count, but not of all
// members if a whole fleet is late.
func TestInVain(t *testing.T) {
	h := History{}
	for i := range mostOfDevices + 5 {
		record(t, &h, report.Event{Kind: report.Unused, N: 9, Round: 8, ID: fmt.Sprint("d", i),
			Reason: "its last 16 answers came late"})
	}
	_, marks := h.Snapshot(0)
	if len(marks) != mostOfDevices {
		t.Errorf("%d marks, want %d", len(marks), mostOfDevices)
	}
	m := marks[3]
	if m.Kind != InVain || m.ID != "d3" || m.Text != "d3: its last 16 answers came late" ||
		m.N != 9 || m.Round != 8 {
		t.Errorf("mark %+v", m)
	}
	record(t, &h, report.Event{Kind: report.Suspected, N: 9, Round: 8, ID: "d1", Reason: "it lies"})
	if _, marks = h.Snapshot(0); marks[mostOfDevices].Kind != Suspect ||
		marks[mostOfDevices].Text != "d1: it lies" {
		t.Errorf("the mark of a suspect is %+v", marks[mostOfDevices])
	}
}

// TestSameID: the history has a mark of each member whose id two devices use, up to mostOfDevices.
func TestSameID(t *testing.T) {
	h := History{}
	for i := range mostOfDevices + 5 {
		record(t, &h, report.Event{Kind: report.SameID, N: 9, Round: 8, ID: fmt.Sprint("d", i)})
	}
	_, marks := h.Snapshot(0)
	if len(marks) != mostOfDevices {
		t.Errorf("%d marks, want %d", len(marks), mostOfDevices)
	}
	if m := marks[3]; m.Kind != SameID || m.ID != "d3" || m.N != 9 || m.Round != 8 ||
		!strings.HasPrefix(m.Text, "d3: two devices send under this id") {
		t.Errorf("mark %+v", m)
	}
}

// A slow reader loses points in the middle but never the last, and the writer does not wait.
func TestSubscription(t *testing.T) {
	var h History
	sub := h.Subscribe()
	record(t, &h, round(2))
	<-sub.Ready()
	if u := sub.Take(); len(u.Points) != 1 || u.Points[0].N != 2 || u.Lost != 0 {
		t.Errorf("update %+v", u)
	}
	const n = 10 * mostPending
	for i := uint64(3); i <= n; i++ {
		record(t, &h, round(i))
	}
	record(t, &h, report.Event{Kind: report.RunPaused, N: n})
	<-sub.Ready()
	u := sub.Take()
	last := u.Points[len(u.Points)-1].N
	if last != n || len(u.Marks) != 1 || u.Lost+uint64(len(u.Points)) != n-2 || u.Lost == 0 ||
		len(u.Points) > mostPending {
		t.Errorf("%d points up to record %d, %d marks, %d lost", len(u.Points), last, len(u.Marks),
			u.Lost)
	}
	sub.Close()
	record(t, &h, round(n+1))
	if u := sub.Take(); len(u.Points) != 0 {
		t.Errorf("after Close: %+v", u)
	}
}

// Readers and the writer run at the same time.
func TestReadersAndWriter(t *testing.T) {
	var h History
	run := newRun(t)
	defer h.Lead(t.Context(), run, Dir(t.TempDir()), logger(t))()
	const n = 2 * mostPoints
	var wait sync.WaitGroup
	for range 3 {
		sub := h.Subscribe()
		wait.Go(func() {
			defer sub.Close()
			for last := uint64(0); last < n; {
				<-sub.Ready()
				for _, p := range sub.Take().Points {
					last = max(last, p.N)
				}
				points, _ := h.Snapshot(last)
				for i := 1; i < len(points); i++ {
					if points[i].N <= points[i-1].N {
						t.Errorf("a point of record %d after one of %d", points[i].N, points[i-1].N)
					}
				}
			}
		})
	}
	for i := uint64(2); i <= n; i++ {
		run.dropped(1)
		record(t, &h, round(i))
		if i%10 == 0 {
			record(t, &h, evaluation(i, 1), report.Event{Kind: report.RunResumed, N: i})
		}
	}
	wait.Wait()
}
