package decomfl

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/papers/run"
)

// TestDecomfl runs the whole experiment on a few digits, and again from the logs of the
// first time.
func TestDecomfl(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	e := &lab.Env{Generated: 1000, Dir: t.TempDir()}
	x := newTrial(lab.NewTrial(t.Context(), e, "small"))
	if err := x.load(); err != nil {
		t.Fatal(err)
	}
	soft := setting{name: "softmax", k: 1, p: 10, batch: 4, step: 1e-3, rounds: 20, measure: 10}
	conv := setting{name: "cnn", cnn: true, k: 2, p: 1, batch: 2, step: 1e-3,
		rounds: 3, measure: 2}
	for _, d := range []setting{soft, conv} {
		results, err := x.train(d, 2)
		if err != nil {
			t.Fatal(err)
		}
		x.within(&d, results, []officialRange{{d.rounds, 0, 1, 1}}, "nobody")
		x.guarded(&d, results, "nobody does")
		x.fewerBytes(&d, results)
		rest, err := e.Train(t.Context(), "small", d.null(x.set, 7), 1)
		if err != nil {
			t.Fatal(err)
		}
		x.quicker(&d, results.RoundTime()+rest.RoundTime(), rest.RoundTime(), officialTime{1000, 1000})
	}
	if len(x.Report.Claims) != 10 || len(x.Report.Figure.Lines) != 6 {
		t.Errorf("%d claims and %d series, want 10 and 6",
			len(x.Report.Claims), len(x.Report.Figure.Lines))
	}
	for _, c := range x.Report.Claims {
		if !c.Holds && !strings.Contains(c.Claim, "blow up") { // 3 rounds are no training
			t.Errorf("does not hold: %s: %s", c.Claim, c.Figures)
		}
	}
	first := x.curves["softmax"].At(run.Accuracy, 20)
	x.curves = map[string]lab.Results{}
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
	if r := labtest.Stopped(t, mnist(), 1000); len(r.Table.Rows) == 0 {
		t.Error("no curve, want those so far")
	}
}
