package decomfl

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// TestDuelPoints: what travels is counted with P as it was in each round.
func TestDuelPoints(t *testing.T) {
	r := &run.Result{Curve: &run.Curve{Metrics: []string{run.Accuracy}}}
	for n := uint64(1); n <= 6; n++ {
		p := run.Point{Round: n, Gradients: n}
		if n%2 == 0 {
			p.Values = []float64{float64(n) / 10}
		}
		r.Curve.Points = append(r.Curve.Points, p)
	}
	s := fashionSize{p: 25, rounds: 6}
	c := scalars("ours", r, 5, s.doubled)
	// 2*5*25 in the first round, 50 in the second, 100 in the next two, 200 in the last two.
	if p := c.last(); p.numbers != 10*(25+50+100+100+200+200) || p.gradients != 6 {
		t.Errorf("the last point is %+v", p)
	}
	if p, ok := c.first(0.35); !ok || p.round != 4 || p.numbers != 10*275 {
		t.Errorf("0.35 is reached at %+v, %v", p, ok)
	}
	if _, ok := c.first(0.9); ok {
		t.Error("0.9 is reached")
	}
	if p := c.after(5); p.round != 4 {
		t.Errorf("after round 5: %+v", p)
	}
	d := duel{target: 0.4}
	other := &duelCurve{"other", []duelPoint{{round: 1, numbers: 2700, accuracy: 0.5}}}
	report := &lab.Report{}
	d.fewerNumbers(report, c, []*duelCurve{other})
	other.points[0].numbers = 2800
	d.fewerNumbers(report, c, []*duelCurve{other})
	if report.Claims[0].Holds || !report.Claims[1].Holds {
		t.Errorf("2,750 numbers against 2,700 and 2,800: %+v", report.Claims)
	}
}

// TestFashion runs the experiment on a few drawn digits, too few to learn.
func TestFashion(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	e := &lab.Env{Generated: 600, Screen: true, Logf: t.Logf}
	x := newTrial(lab.NewTrial(t.Context(), e, "fashion"))
	s := fashionSize{mlp: true, batch: 2, p: 1, rounds: 6, first: 1, seeds: 1}
	train, test, err := s.models(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.fashion(s, train, test); err != nil {
		t.Fatal(err)
	}
	if c := x.Report.Claims; len(c) != 2+1+8+1 || !strings.Contains(c[3].Claim, "FedAvg") {
		t.Errorf("%d claims: %+v", len(c), c)
	}
	rows := x.Report.Summary.Rows
	if len(rows) != 10 || rows[0][3] != "270" || rows[1][3] != "60" || rows[2][5] != "50" {
		t.Errorf("rows %v: want 2*5*P numbers a round, and 5 gradients of 10 clients a round", rows)
	}
	if n := len(x.Report.More); n != 1 || len(x.Report.More[0].Lines) != 10 {
		t.Errorf("%d further figures", n)
	}
}

// TestFashionCNN: the short form of the CNN is DeComFL alone, and the run in which P doubles ends
// when it has made as many queries as the other.
func TestFashionCNN(t *testing.T) {
	e := &lab.Env{Generated: 100, Screen: true, Short: true, Tasks: []string{"cnn"}, Logf: t.Logf}
	s, err := fashionSizeOf(e)
	if err != nil {
		t.Fatal(err)
	}
	queries := uint32(0)
	for round := uint64(1); round <= s.doubles; round++ {
		queries += s.doubled(round)
	}
	all := s.p * uint32(s.rounds)
	if s.mlp || queries > all || queries+s.doubled(s.doubles+1) <= all {
		t.Errorf("%+v: P doubles for %d directions, stays for %d", s, queries, all)
	}
	for _, tasks := range [][]string{{"rnn"}, {"mlp", "cnn"}} {
		if _, err := fashionSizeOf(&lab.Env{Tasks: tasks}); err == nil {
			t.Errorf("--tasks %s is no mistake", tasks)
		}
	}
	if testing.Short() {
		return
	}
	s.mlp, s.batch, s.p, s.rounds, s.doubles = true, 2, 1, 6, 3
	train, test, err := s.models(e)
	if err != nil {
		t.Fatal(err)
	}
	x := newTrial(lab.NewTrial(t.Context(), e, "fashion"))
	if err := x.fashion(s, train, test); err != nil {
		t.Fatal(err)
	}
	if len(x.Report.Claims) != 2 || !strings.Contains(x.Report.Claims[1].Figures, "after round 3") {
		t.Errorf("%+v", x.Report.Claims)
	}
}

// TestFedAvg does the same with figure 5's steps.
func TestFedAvg(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	x := newTrial(lab.NewTrial(t.Context(),
		&lab.Env{Generated: 600, Screen: true, Logf: t.Logf}, "fedavg"))
	if err := x.load(); err != nil {
		t.Fatal(err)
	}
	s := fedavgSize{local: []int{2}, batch: 2, rounds: 2,
		decomfl: setting{name: "small", cnn: true, k: 2, p: 3, batch: 2, step: 1e-3, rounds: 2,
			measure: 1}}
	if err := x.fedavg(s); err != nil {
		t.Fatal(err)
	}
	if len(x.Report.Claims) != 1+1+1 || len(x.Report.Summary.Rows) != 5 {
		t.Errorf("%d claims and %d rows: %+v", len(x.Report.Claims), len(x.Report.Summary.Rows),
			x.Report.Summary.Rows)
	}
	if got := x.Report.Summary.Rows[0][3]; got != "24" {
		t.Errorf("DeComFL's numbers: %s, want 2*2*3 a round", got)
	}
}
