// Package chart draws lines over two axes as SVG: as a file of its own, or within a page. Pictures
// follow the reader's theme, light or dark.
package chart

import (
	"bytes"
	"fmt"
	"html/template"
)

// A Chart is lines and marks over two axes.
type Chart struct {
	Title, X, Y string
	Lines       []Line
	Failed      []Mark // of what has no Y: crosses at the top
	Rules       []Mark // of what happened at an X: dashed lines
	Ticks       []Tick // of the axis of X; nil: numbers
	LogX        bool
}

// A Point is a place of a chart, in the units of its axes.
type Point struct{ X, Y float64 }

// A Line has a name in the legend, a curve, and marks beside it.
type Line struct {
	Name   string
	Points []Point
	Marks  []Mark
	Faint  bool // in the color of the line that follows: what that one smooths
}

// A Mark is a point with a text that is shown beside the pointer.
type Mark struct {
	Point
	Title string
}

// A Tick is a text below the axis of X.
type Tick struct {
	At   float64
	Text string
}

// colors are how many colors lines have, see [Style].
const colors = 10

// A frame is where the axes lie in a picture, in pixels, and how many lines of a legend fit.
type frame struct {
	Width, Height            int
	Left, Right, Top, Bottom float64
	Legend                   int
}

var (
	alone  = frame{960, 460, 80, 560, 50, 400, 20}
	inPage = frame{640, 320, 70, 628, 16, 268, 0}
)

// A drawnLine is a line in pixels.
type drawnLine struct {
	Class, Name string
	LegendY     float64 // 0: the legend is full
	Points      []Point
	Marks       []Mark
}

// File returns the picture of a chart as a file. The axis of Y is logarithmic where values differ
// much.
func (c *Chart) File() ([]byte, error) { return c.draw(alone, Style) }

// Inline returns the picture of a chart for a page, whose style has [Style]. Its title and the
// names of its lines are the page's to show.
func (c *Chart) Inline() (template.HTML, error) {
	b, err := c.draw(inPage, "")
	return template.HTML(b), err
}

// Key is the class of the color of a line, for legends.
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
	y := newScale(ys, Spread(ys) >= 30, f.Bottom, f.Top)
	var lines []drawnLine
	for i, l := range c.Lines {
		d := drawnLine{Class: c.Key(i), Name: l.Name}
		if l.Faint {
			d.Class += " faint"
		}
		if l.Name != "" && i < f.Legend {
			d.LegendY = f.Top + float64(16*i)
		}
		for _, p := range l.Points {
			d.Points = append(d.Points, Point{x.at(p.X), y.at(p.Y)})
		}
		for _, m := range l.Marks {
			d.Marks = append(d.Marks, Mark{Point{x.at(m.X), y.at(m.Y)}, m.Title + ", " + Number(m.Y)})
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

// values returns all that must have room on the two axes.
func (c *Chart) values() (xs, ys []float64) {
	for _, l := range c.Lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
		for _, m := range l.Marks {
			xs, ys = append(xs, m.X), append(ys, m.Y)
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
