package main

import (
	"cmp"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	width  = 26 * vg.Centimeter
	height = 11 * vg.Centimeter
)

// format returns "png" or "svg" according to a file's name, or "" for any other.
func format(file string) string {
	switch f := strings.ToLower(filepath.Ext(file)); f {
	case ".png", ".svg":
		return f[1:]
	}
	return ""
}

// WritePlot draws the losses against the experiments, and each device's experiment with the
// first gains and with the final gains of the first method.
func (r *Report) WritePlot(file string) error {
	left, err := r.lossPlot()
	if err != nil {
		return err
	}
	right, err := r.stepPlot()
	if err != nil {
		return err
	}
	var canvas vg.CanvasWriterTo = vgsvg.New(width, height)
	if format(file) == "png" {
		canvas = vgimg.PngCanvas{Canvas: vgimg.New(width, height)}
	}
	panels := draw.Tiles{Rows: 1, Cols: 2, PadX: vg.Centimeter, PadTop: vg.Centimeter / 4,
		PadBottom: vg.Centimeter / 4,
		PadLeft:   vg.Centimeter / 4, PadRight: vg.Centimeter / 2}
	area := draw.New(canvas)
	left.Draw(panels.At(area, 0, 0))
	right.Draw(panels.At(area, 1, 0))
	return write(file, canvas)
}

func write(file string, canvas io.WriterTo) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = canvas.WriteTo(out)
	return cmp.Or(err, out.Close())
}

// lossPlot has a line for each method.
func (r *Report) lossPlot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "Fleet", "experiments a device", "mean loss, K"
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for i, run := range r.Runs {
		line, marks, err := plotter.NewLinePoints(run.curve())
		if err != nil {
			return nil, err
		}
		line.Color, marks.Color, marks.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
		p.Add(line, marks)
		p.Legend.Add(run.Name, line, marks)
	}
	return p, nil
}

func (r *Run) curve() plotter.XYs {
	points := make(plotter.XYs, len(r.Losses))
	for i, p := range r.Outcome.Points {
		points[i] = plotter.XY{X: float64(p.Round * r.Outcome.PerRound), Y: r.Losses[i]}
	}
	return points
}

// stepPlot has two lines for each device: before and after tuning.
func (r *Report) stepPlot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "Devices", "s", "K above the room"
	p.Legend.XOffs, p.Legend.YOffs = -vg.Centimeter/2, vg.Centimeter/2
	p.Add(plotter.NewGrid())
	sets := []struct {
		name  string
		gains Gains
		color color.Color
	}{
		{"SIMC", SIMC(Nominal), color.Gray{170}},
		{r.Runs[0].Name, r.Runs[0].Final, plotutil.Color(0)},
	}
	for _, set := range sets {
		for i, plate := range r.Plates {
			line, err := plotter.NewLine(plate.Run(set.gains, nil).curve())
			if err != nil {
				return nil, err
			}
			line.Color = set.color
			if p.Add(line); i == 0 {
				p.Legend.Add(set.name, line)
			}
		}
	}
	return p, nil
}

func (t Trace) curve() plotter.XYs {
	points := make(plotter.XYs, len(t.Read))
	for i, y := range t.Read {
		points[i] = plotter.XY{X: float64(i) * Period, Y: y}
	}
	return points
}
