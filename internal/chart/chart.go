// Package chart draws line charts as SVG, as a file or as a part of a page. Charts follow the
// reader's theme, light or dark.
package chart

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
)

// A Chart is lines and marks over two axes.
type Chart struct {
	Title, X, Y string
	Lines       []Line
	Failed      []Mark // crosses at the top, for points without a Y
	Rules       []Mark // dashed lines, for events at an X
	Ticks       []Tick // texts on the axis of X; nil: numbers
	LogX, LogY  bool   // without LogY, the axis of Y is logarithmic where values differ much
}

// A Point is a place of a chart, in the units of its axes.
type Point struct{ X, Y float64 }

// A Line has a name in the legend, a curve, and marks next to the curve.
type Line struct {
	Name   string
	Points []Point
	Marks  []Mark
	Ranges []Range
	Faint  bool // pale, in the color of the next line, which smooths this one
}

// Add adds a point to the curve.
func (l *Line) Add(x, y float64) { l.Points = append(l.Points, Point{x, y}) }

// A Range is a bar from Low to High.
type Range struct{ X, Low, High float64 }

// A Mark is a point with a text. The reader sees the text when the pointer is on the point.
type Mark struct {
	Point
	Title string
}

// A Tick is a text below the axis of X.
type Tick struct {
	At   float64
	Text string
}

// colors is the number of colors of lines, see [Style].
const colors = 10

// A frame is the size of a picture and the position of its axes, in pixels.
type frame struct {
	Width, Height            int
	Left, Right, Top, Bottom float64
}

var (
	alone  = frame{960, 460, 80, 560, 50, 400}
	inPage = frame{640, 320, 70, 628, 16, 268}
)

// mostNames bounds the names in a legend.
const mostNames = 60

// A drawnLine is a line in pixels.
type drawnLine struct {
	Class, Name string
	LegendY     float64 // 0: not in a legend
	Points      []Point
	Marks       []Mark
	Ranges      []Range
}

// File returns the picture of a chart as a file. The picture is high enough for the whole legend.
func (c *Chart) File() ([]byte, error) {
	f := alone
	if more := 16 * (min(len(c.Lines), mostNames) - 20); more > 0 {
		f.Height, f.Bottom = f.Height+more, f.Bottom+float64(more)
	}
	return c.draw(f, Style)
}

// WriteFile writes the picture of a chart.
func (c *Chart) WriteFile(name string) error {
	picture, err := c.File()
	if err != nil {
		return err
	}
	return os.WriteFile(name, picture, 0o644)
}

// Inline returns the picture of a chart for a page that includes [Style]. The page itself must show
// the chart's title and the names of the lines.
func (c *Chart) Inline() (template.HTML, error) {
	b, err := c.draw(inPage, "")
	return template.HTML(b), err
}

// Key returns the CSS class of a line's color, for legends.
func (c *Chart) Key(line int) string {
	n := 0
	for _, l := range c.Lines[:line] {
		if !l.Faint {
			n++
		}
	}
	return fmt.Sprintf("c%d", n%colors)
}

func (c *Chart) draw(f frame, style string) ([]byte, error) {
	xs, ys := c.values()
	x := newScale(xs, c.LogX, f.Left, f.Right)
	y := newScale(ys, c.LogY || Spread(ys) >= 30, f.Bottom, f.Top)
	var lines []drawnLine
	for i, l := range c.Lines {
		d := drawnLine{Class: c.Key(i), Name: l.Name}
		if l.Faint {
			d.Class += " faint"
		}
		if l.Name != "" && style != "" && i < mostNames {
			d.LegendY = f.Top + float64(16*i)
		}
		marks := l.Marks
		if len(l.Points) == 1 && marks == nil { // a curve of one point would be invisible
			marks = []Mark{{l.Points[0], l.Name}}
		}
		for _, p := range l.Points {
			if x.has(p.X) && y.has(p.Y) {
				d.Points = append(d.Points, Point{x.at(p.X), y.at(p.Y)})
			}
		}
		for _, m := range marks {
			if x.has(m.X) && y.has(m.Y) {
				d.Marks = append(d.Marks, Mark{Point{x.at(m.X), y.at(m.Y)}, m.Title + ", " + Number(m.Y)})
			}
		}
		for _, r := range l.Ranges {
			d.Ranges = append(d.Ranges, Range{x.at(r.X), y.at(r.Low), y.at(r.High)})
		}
		lines = append(lines, d)
	}
	var ticksX, ticksY []Mark
	for _, t := range c.Ticks {
		ticksX = append(ticksX, Mark{Point{X: x.at(t.At)}, t.Text})
	}
	for _, v := range x.ticks() {
		if c.Ticks == nil {
			ticksX = append(ticksX, Mark{Point{X: x.at(v)}, short(v)})
		}
	}
	for _, v := range y.ticks() {
		ticksY = append(ticksY, Mark{Point{Y: y.at(v)}, short(v)})
	}
	var out bytes.Buffer
	err := picture.Execute(&out, map[string]any{"F": f, "Style": template.CSS(style), "Title": c.Title,
		"X": c.X, "Y": c.Y, "TicksX": ticksX, "TicksY": ticksY, "Lines": lines,
		"Failed": x.place(c.Failed), "Rules": x.place(c.Rules)})
	return out.Bytes(), err
}

// values returns the X and Y values that must fit on the two axes.
func (c *Chart) values() (xs, ys []float64) {
	for _, l := range c.Lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
		for _, m := range l.Marks {
			xs, ys = append(xs, m.X), append(ys, m.Y)
		}
		for _, r := range l.Ranges {
			xs, ys = append(xs, r.X), append(ys, r.Low, r.High)
		}
	}
	for _, m := range c.Failed {
		xs = append(xs, m.X)
	}
	for _, t := range c.Ticks {
		xs = append(xs, t.At)
	}
	return xs, ys
}
