package paper

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/testing/paper/run"
)

// experiment runs an experiment on drawn digits.
func experiment(t *testing.T, id string, e *Env) *Report {
	t.Helper()
	x, err := Find(id)
	if err != nil {
		t.Fatal(err)
	}
	e.Logf = t.Logf
	r, err := x.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if r.ID != id {
		t.Errorf("the report is of %q", r.ID)
	}
	var b bytes.Buffer
	if err := r.Table.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	if rows, err := csv.NewReader(&b).ReadAll(); err != nil || len(rows) < 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	return r
}

func all(t *testing.T, r *Report, claims int) {
	t.Helper()
	if len(r.Claims) != claims {
		t.Errorf("%d claims, want %d", len(r.Claims), claims)
	}
	for _, c := range r.Claims {
		if !c.Holds {
			t.Errorf("does not hold: %s: %s", c.Claim, c.Figures)
		}
	}
}

func TestLag(t *testing.T) {
	r := experiment(t, "decomfl-lag", &Env{})
	all(t, r, 4)
	for _, row := range r.Table.Rows {
		k, p, missed, up, down := count(t, row[0]), count(t, row[1]), count(t, row[3]),
			count(t, row[4]), count(t, row[5])
		wantUp, wantDown := 10*k*p, 100*k*p
		if missed > 0 {
			wantUp, wantDown = 0, missed*k*p
		}
		if up != wantUp || down != wantDown {
			t.Errorf("%v: want %d scalars up and %d down", row, wantUp, wantDown)
		}
	}
}

func count(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMemory(t *testing.T) {
	r, err := memoryReport(t.Context(), &Env{}, 1<<16, 1<<20) // a hundredth of d is 39 kB
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 3)
}

func TestTable1(t *testing.T) {
	r := experiment(t, "zofedht-table1", &Env{})
	if len(r.Claims) != 3 || !r.Claims[0].Holds || r.Claims[1].Holds || !r.Claims[2].Holds {
		t.Errorf("%+v: want the second alone not to hold", r.Claims)
	}
}

// TestDecomfl runs the whole experiment on a few digits, and again from the logs of the
// first time.
func TestDecomfl(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	e := &Env{Generated: 1000, Dir: t.TempDir()}
	x := newDecomflRun(t.Context(), e, "small")
	if err := x.load(); err != nil {
		t.Fatal(err)
	}
	soft := decomflSetting{name: "softmax", k: 1, p: 10, batch: 4, step: 1e-3, rounds: 20, measure: 10}
	conv := decomflSetting{name: "cnn", cnn: true, k: 2, p: 1, batch: 2, step: 1e-3,
		rounds: 3, measure: 2}
	for _, d := range []decomflSetting{soft, conv} {
		results, err := x.train(d, 2)
		if err != nil {
			t.Fatal(err)
		}
		x.within(&d, results, []officialRange{{d.rounds, 0, 1, 1}}, []uint64{d.rounds}, "nobody")
		x.guarded(&d, results, "nobody does")
		x.fewerBytes(&d, results)
		rest, err := e.Train(t.Context(), "small", d.null(x.set, 7), 1)
		if err != nil {
			t.Fatal(err)
		}
		x.quicker(&d, results.RoundTime()+rest.RoundTime(), rest.RoundTime(), officialTime{1000, 1000})
	}
	if len(x.report.Claims) != 10 || len(x.report.Figure.Series) != 6 {
		t.Errorf("%d claims and %d series, want 10 and 6",
			len(x.report.Claims), len(x.report.Figure.Series))
	}
	for _, c := range x.report.Claims {
		if !c.Holds && !strings.Contains(c.Claim, "blow up") { // 3 rounds are no training
			t.Errorf("does not hold: %s: %s", c.Claim, c.Figures)
		}
	}
	first := x.curves["softmax"].At(run.Accuracy, 20)
	x.curves = map[string]Results{}
	again, err := x.train(soft, 2)
	if err != nil || again[0].Totals.Up.Messages != 0 {
		t.Errorf("%v; it trained again: %+v", err, again[0].Totals)
	}
	if got := again.At(run.Accuracy, 20); len(got) != 2 || got[0] != first[0] || got[1] != first[1] {
		t.Errorf("accuracies %v from the logs, %v before", got, first)
	}
}

// TestStopped: a stopped experiment reports the results so far.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	ctx, cancel := context.WithCancel(t.Context())
	e := &Env{Generated: 1000, Short: true, Logf: func(string, ...any) { cancel() }}
	x, err := Find("decomfl-mnist")
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Run(ctx, e)
	if !errors.Is(err, context.Canceled) || r == nil || len(r.Table.Rows) == 0 {
		t.Errorf("got %v and %v, want curves and canceled", r, err)
	}
}
