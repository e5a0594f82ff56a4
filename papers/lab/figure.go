package lab

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgimg" // PNG
	_ "gonum.org/v1/plot/vg/vgsvg" // SVG
)

// A Figure is the drawing of a report.
type Figure struct {
	Title, X, Y string
	LogX, LogY  bool
	Falls       bool    // the legend has room at the top
	Left        bool    // or on the left
	Floor       float64 // what is below is left out; 0: nothing
	Series      []Series
}

// A Series is a line of a figure, or ranges: bars from Low to High.
type Series struct {
	Name      string
	X, Y      []float64
	Low, High []float64 // nil: a line through Y
}

// CheckPlot reports whether the file's name says a format that can be written.
func CheckPlot(file string) error {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".png", ".svg":
		return nil
	}
	return fmt.Errorf("plot %q: name a file that ends in .png or .svg", file)
}

// WriteFile draws the figure to a file in the format that its name says. A name with -dark
// in it, such as curves-dark.svg, is of a drawing for dark pages.
func (f *Figure) WriteFile(file string) error {
	if err := CheckPlot(file); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	ext := filepath.Ext(file)
	dark := strings.Contains(filepath.Base(file), "-dark")
	err = f.write(out, strings.ToLower(ext)[1:], dark)
	if fault := out.Close(); err == nil {
		err = fault
	}
	return err
}

func (f *Figure) write(w io.Writer, format string, dark bool) error {
	p, grid := plot.New(), plotter.NewGrid()
	if dark {
		darken(p, grid)
	}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.Legend.Top, p.Legend.XOffs = f.Falls, -vg.Centimeter/2
	if f.Left {
		p.Legend.Left, p.Legend.XOffs = true, vg.Centimeter/2
	}
	p.Add(grid)
	if f.LogX && f.any() {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if f.LogY && f.any() {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	for i, s := range f.Series {
		if err := f.add(p, &s, i); err != nil {
			return fmt.Errorf("plot of %s: %w", s.Name, err)
		}
	}
	if f.Floor != 0 {
		p.Y.Min = f.Floor
	}
	to, err := p.WriterTo(20*vg.Centimeter, 13*vg.Centimeter, format)
	if err != nil {
		return err
	}
	_, err = to.WriteTo(w)
	return err
}

// darken gives a plot the colors of a dark page.
func darken(p *plot.Plot, grid *plotter.Grid) {
	back, line := color.Gray{Y: 0x11}, color.Gray{Y: 0x44}
	p.BackgroundColor, grid.Vertical.Color, grid.Horizontal.Color = back, line, line
	for _, of := range []*color.Color{&p.Title.TextStyle.Color, &p.Legend.TextStyle.Color,
		&p.X.Color, &p.X.Label.TextStyle.Color, &p.X.Tick.Color, &p.X.Tick.Label.Color,
		&p.Y.Color, &p.Y.Label.TextStyle.Color, &p.Y.Tick.Color, &p.Y.Tick.Label.Color} {
		*of = color.Gray{Y: 0xcc}
	}
}

// add draws a series. It leaves out points that a plot cannot show, such as those of a run that
// diverged to infinity.
func (f *Figure) add(p *plot.Plot, s *Series, i int) error {
	var points plotter.XYs
	var bars plotter.YErrors
	for j, x := range s.X {
		if !f.shows(x, s.Y[j]) {
			continue
		}
		points = append(points, plotter.XY{X: x, Y: s.Y[j]})
		if s.Low != nil {
			bars = append(bars, struct{ Low, High float64 }{s.Y[j] - s.Low[j], s.High[j] - s.Y[j]})
		}
	}
	if len(points) == 0 {
		return nil
	}
	if bars != nil {
		return addBars(p, s.Name, points, bars, i)
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, line.Dashes = plotutil.Color(i), plotutil.Dashes(i/8)
	marks.Color, marks.Shape = plotutil.Color(i), plotutil.Shape(i)
	p.Add(line, marks)
	p.Legend.Add(s.Name, line, marks)
	return nil
}

// addBars draws ranges, and a mark within each.
func addBars(p *plot.Plot, name string, points plotter.XYs, bars plotter.YErrors, i int) error {
	ranges, err := plotter.NewYErrorBars(struct {
		plotter.XYer
		plotter.YErrorer
	}{points, bars})
	if err != nil {
		return err
	}
	marks, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	ranges.Color, marks.Color, marks.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
	p.Add(ranges, marks)
	p.Legend.Add(name, marks)
	return nil
}

func (f *Figure) shows(x, y float64) bool {
	finite := !math.IsNaN(x) && !math.IsInf(x, 0) && !math.IsNaN(y) && !math.IsInf(y, 0)
	return finite && (!f.LogX || x > 0) && (!f.LogY || y > 0) && (f.Floor == 0 || y >= f.Floor)
}

// any reports whether there is anything to show: a logarithmic axis needs a point.
func (f *Figure) any() bool {
	for _, s := range f.Series {
		for i, x := range s.X {
			if f.shows(x, s.Y[i]) {
				return true
			}
		}
	}
	return false
}
