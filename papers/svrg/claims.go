package svrg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
)

// lengths are the step sizes that the experiment tries. With a step size of 0.1, the method
// without variance reduction nearly diverges.
var lengths = []float32{0.0125, 0.025, 0.05}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	rounds uint64
	seeds  int
}

// all trains every method with every step size, and simulates every way to draw directions.
func (x *trial) all() error {
	x.Report.Figure = chart.Chart{Title: "ZO-SVRG on least squares", X: "round", Y: lab.AboveMinimum,
		LogY: true}
	ends := map[string][]float64{} // means of the seeds, by arm, in the order of steps
	for i := range arms {
		a := &arms[i]
		for _, step := range lengths {
			values, err := x.train(a, step)
			if err != nil {
				return err
			}
			ends[a.name] = append(ends[a.name], lab.Mean(values))
			x.Env.Say("%s, step %g: %s", a.title, step, lab.SpreadError(values))
		}
	}
	x.claims(ends)
	return x.directions()
}

// train returns F - F* at the end of each seed's run.
func (x *trial) train(a *arm, step float32) (values []float64, err error) {
	for seed := uint64(1); seed <= uint64(x.seeds); seed++ {
		t := a.training(newLeastSquares(seed), step, x.rounds)
		r, err := x.Env.TrainOne(x.Ctx, x.Report.ID, t, seed)
		if err != nil {
			return nil, err
		}
		x.Report.AddCurves(lab.AboveMinimum, lab.Results{r})
		values = append(values, r.Curve.At(lab.AboveMinimum, t.Rounds))
	}
	return values, nil
}

func (x *trial) claims(ends map[string][]float64) {
	figures := make([]string, len(arms))
	for i, a := range arms {
		figures[i] = fmt.Sprintf("%s %s", a.title, magnitudes(ends[a.name]))
	}
	text := fmt.Sprintf("F - F* at steps of %v: %s", lengths, strings.Join(figures, "; "))
	x.Report.Claim(allBelow(ends["svrg"], ends["sgd"]),
		"at every step ZO-SVRG ends lower than plain steps after as many rounds", "%s", text)
	x.Report.Claim(slices.Min(ends["svrg"]) < slices.Min(ends["long"]),
		"also lower than plain steps at their best step with as many losses of samples", "%s", text)
	x.Report.Claim(slices.Min(ends["svrg"]) < slices.Min(ends["cosine"]),
		"also lower than those whose step falls to a thousandth meanwhile", "%s", text)
}

// allBelow reports whether each value is below its counterpart.
func allBelow(a, b []float64) bool {
	for i := range a {
		if !(a[i] < b[i]) {
			return false
		}
	}
	return true
}

func magnitudes(values []float64) string {
	text := make([]string, len(values))
	for i, v := range values {
		text[i] = fmt.Sprintf("%.2g", v)
	}
	return strings.Join(text, ", ")
}
