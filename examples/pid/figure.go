package main

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/internal/chart"
)

// WritePlots draws the losses against the experiments to a file, and to FILE-plates.svg each
// device's experiment with the first gains and with the final gains of the first method. Only this
// repository can import package chart: leave this file out of a program of your own.
func (r *Report) WritePlots(file string) error {
	if err := r.losses().WriteFile(file); err != nil {
		return err
	}
	return r.steps().WriteFile(strings.TrimSuffix(file, ".svg") + "-plates.svg")
}

// losses has a line for each method.
func (r *Report) losses() *chart.Chart {
	c := &chart.Chart{Title: "Fleet", X: "experiments a device", Y: "mean loss, K"}
	for _, run := range r.Runs {
		line := chart.Line{Name: run.Name}
		for i, p := range run.Outcome.Points {
			line.Add(float64(p.Round*run.Outcome.PerRound), run.Losses[i])
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

// steps has two lines for each device: before and after tuning.
func (r *Report) steps() *chart.Chart {
	c := &chart.Chart{Title: "Devices", X: "s", Y: "K above the room"}
	for i, plate := range r.Plates {
		before := plate.line(SIMC(Nominal), i, "SIMC")
		before.Faint = true
		c.Lines = append(c.Lines, before, plate.line(r.Runs[0].Final, i, r.Runs[0].Name))
	}
	return c
}

// line is the experiment of plate i.
func (p *Plate) line(gains Gains, i int, name string) chart.Line {
	line := chart.Line{Name: fmt.Sprintf("%s, plate %d", name, i+1)}
	for j, y := range p.Run(gains, nil).Read {
		line.Add(float64(j)*Period, y)
	}
	return line
}
