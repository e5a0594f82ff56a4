package decomfl

import (
	"errors"
	"math"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/papers/run"
)

// TestProjection runs the experiment on drawn digits: with a small mu both kinds of scalars train
// nearly alike, because they share directions and minibatches.
func TestProjection(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	x := newTrial(lab.NewTrial(t.Context(),
		&lab.Env{Generated: 1000, Seeds: 1, Logf: t.Logf}, "projection"))
	if err := x.load(); err != nil {
		t.Fatal(err)
	}
	soft := softmaxSetting
	soft.rounds, soft.measure = 20, 20
	if err := x.project([]projectionTask{{soft, []float32{1e-3, 4e-3}}}); err != nil {
		t.Fatal(err)
	}
	if c := x.Report.Claims; len(c) != 3 {
		t.Errorf("claims: %+v", c)
	}
	series := x.Report.Figure.Lines
	if len(series) != 2*len(scalarKinds) {
		t.Fatalf("%d curves, want one of each kind and step", len(series))
	}
	for i := range 2 {
		zo, projected := series[len(scalarKinds)*i].Points[0].Y,
			series[len(scalarKinds)*i+2].Points[0].Y
		if math.Abs(zo-projected) > 0.04 || zo < 0.25 {
			t.Errorf("accuracy %v by differences, %v by projections", zo, projected)
		}
	}
	last := x.Report.Table.Rows[len(x.Report.Table.Rows)-1]
	if gradients := labtest.Count(t, last[len(last)-2]); gradients != 20*asked {
		t.Errorf("a run of projections made %d gradients, want 1 of each of %d clients a round",
			gradients, asked)
	}
}

// TestProjectionScreened: screening would make both kinds the same.
func TestProjectionScreened(t *testing.T) {
	x := projection()
	if _, err := x.Run(t.Context(), &lab.Env{Generated: 100, Screen: true}); !errors.Is(err,
		errScreenProjection) {
		t.Errorf("got %v, want %v", err, errScreenProjection)
	}
}

// TestEndOf: a run that diverged has the accuracy of guessing.
func TestEndOf(t *testing.T) {
	one := func(round uint64, accuracy float64) *run.Result {
		return &run.Result{Curve: &run.Curve{Metrics: []string{run.Accuracy},
			Points: []run.Point{{Round: round, Values: []float64{accuracy}}}}}
	}
	if got := endOf(lab.Results{one(4, 0.9), one(2, 0.8)}, 4); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("mean of 0.9 and a run that ended before: %v, want 0.5", got)
	}
}
