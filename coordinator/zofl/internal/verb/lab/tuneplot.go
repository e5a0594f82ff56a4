package lab

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/livetune"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/internal/chart"
)

// stepStages are the stages that try steps.
var stepStages = []string{"bracket", "refine", livetune.Stage}

// checkNew returns an error if the file that a flag names exists and replace is false.
func checkNew(flag, name string, replace bool) error {
	if name == "" {
		return nil
	}
	if err := cli.CheckDirectory(flag, name); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err != nil || replace {
		return nil
	}
	return cli.Usage(fmt.Errorf("%s: %s: %w: name a new file, or give --force to replace it", flag,
		name, os.ErrExist))
}

// storePlot stores the plot of the trials, if the user wants it and there is something to draw.
func (f *tuneFlags) storePlot(r *tune.Result) error {
	if f.plot == "" || math.IsNaN(r.Start) {
		return nil
	}
	b, err := plotTrials(r)
	if err == nil {
		err = os.WriteFile(f.plot, b, 0o644)
	}
	return err
}

// plotTrials returns the plot of a result: a line for each stage, a line for the loss before the
// trials, and crosses at the top. A cross marks a step size with which the trial diverged, was
// dropped, or ended with a much higher loss.
func plotTrials(r *tune.Result) ([]byte, error) {
	trials := slices.DeleteFunc(slices.Clone(r.Trials), func(t tune.Trial) bool {
		return !slices.Contains(stepStages, t.Stage) || !(t.Step > 0)
	})
	slices.SortStableFunc(trials, func(a, b tune.Trial) int { return cmp.Compare(a.Step, b.Step) })
	bottom := r.Start
	for _, t := range trials {
		if t.Loss < bottom {
			bottom = t.Loss
		}
	}
	top := bottom + cmp.Or(1.5*(r.Start-bottom), 1) // higher losses get a cross at the top
	c := &chart.Chart{Title: "Loss at the end of a trial, by " + r.Field, X: r.Field, Y: "loss",
		LogX: true}
	first := chart.Line{Name: "at first"}
	for _, stage := range stepStages {
		line := chart.Line{Name: stage}
		for _, t := range trials {
			if t.Stage != stage {
				continue
			}
			m := chart.Mark{Point: chart.Point{X: float64(t.Step), Y: t.Loss},
				Title: fmt.Sprintf("%s: %s after %s", stage, outcome(t),
					terminal.Count(t.Rounds, "round"))}
			c.Ticks = append(c.Ticks, chart.Tick{At: m.X, Text: fmt.Sprintf("%.3g", t.Step)})
			if t.Loss <= top {
				line.Points, line.Marks = append(line.Points, m.Point), append(line.Marks, m)
			} else {
				c.Failed = append(c.Failed, m)
			}
		}
		if line.Points != nil {
			c.Lines = append(c.Lines, line)
		}
	}
	for _, t := range trials {
		first.Add(float64(t.Step), r.Start)
	}
	c.Lines = append(c.Lines, first)
	return c.File()
}
