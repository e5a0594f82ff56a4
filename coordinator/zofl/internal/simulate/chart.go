package simulate

import (
	"bytes"
	"html/template"
	"math"
)

// A chart is lines and marks over two axes.
type chart struct {
	Title, X, Y string
	Lines       []line
	Failed      []mark // runs without a loss: crosses at the top
	Ticks       []tick // of the axis of X; nil: numbers
	LogX        bool
}

type point struct{ X, Y float64 }

// A line has a name in the legend, a curve, and marks beside it.
type line struct {
	Name   string
	Points []point
	Marks  []mark
}

// A mark is a point with a text that is shown beside the pointer.
type mark struct {
	point
	Title string
}

type tick struct {
	At   float64
	Text string
}

// Where the axes lie in the picture, in pixels, and the lines of the legend that fit.
const (
	left, right, top, bottom = 80, 560, 50, 400
	legendLines              = 20
)

var colors = []string{"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2",
	"#7f7f7f", "#bcbd22", "#17becf"}

// A drawnLine is a line in pixels.
type drawnLine struct {
	Color, Name string
	LegendY     float64 // 0: the legend is full
	Points      []point
	Marks       []mark
}

var picture = template.Must(template.New("chart").Parse(`<svg xmlns="http://www.w3.org/2000/svg" ` +
	`width="960" height="460" font-family="sans-serif" font-size="12">
<rect width="960" height="460" fill="white"/>
<text x="320" y="30" text-anchor="middle" font-size="14">{{.Title}}</text>
<text x="320" y="450" text-anchor="middle">{{.X}}</text>
<text x="16" y="40">{{.Y}}</text>
<path d="M80 50V400H560" fill="none" stroke="black"/>
{{range .TicksX}}<path d="M{{.X}} 400v5" stroke="black"/>
<text x="{{.X}}" y="420" text-anchor="middle">{{.Title}}</text>
{{end}}{{range .TicksY}}<path d="M75 {{.Y}}H560" stroke="#dddddd"/>
<text x="72" y="{{.Y}}" dy="4" text-anchor="end">{{.Title}}</text>
{{end}}{{range $line := .Lines}}<polyline fill="none" stroke="{{.Color}}" stroke-width="1.5" ` +
	`points="{{range .Points}}{{.X}},{{.Y}} {{end}}"/>
{{range .Marks}}<circle cx="{{.X}}" cy="{{.Y}}" r="4" fill="{{$line.Color}}">` +
	`<title>{{.Title}}</title></circle>
{{end}}{{if .LegendY}}<rect x="575" y="{{.LegendY}}" width="14" height="4" fill="{{.Color}}"/>
<text x="594" y="{{.LegendY}}" dy="6">{{.Name}}</text>
{{end}}{{end}}{{range .Failed}}<path d="M{{.X}} 60m-4 -4l8 8m0 -8l-8 8" stroke="#d62728">` +
	`<title>{{.Title}}</title></path>
{{end}}</svg>
`))

// svg returns the picture of a chart. The axis of Y is logarithmic where values differ much.
func (c *chart) svg() ([]byte, error) {
	var xs, ys []float64
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
	x := newScale(xs, c.LogX, left, right)
	y := newScale(ys, spread(ys) >= 30, bottom, top)
	var lines []drawnLine
	for i, l := range c.Lines {
		d := drawnLine{Color: colors[i%len(colors)], Name: l.Name}
		if l.Name != "" && i < legendLines {
			d.LegendY = float64(top + 16*i)
		}
		for _, p := range l.Points {
			d.Points = append(d.Points, point{x.at(p.X), y.at(p.Y)})
		}
		for _, m := range l.Marks {
			d.Marks = append(d.Marks, mark{point{x.at(m.X), y.at(m.Y)}, m.Title + ", " + number(m.Y)})
		}
		lines = append(lines, d)
	}
	var failed []mark
	for _, m := range c.Failed {
		failed = append(failed, mark{point{X: x.at(m.X)}, m.Title})
	}
	var ticksX, ticksY []mark
	for _, t := range c.Ticks {
		ticksX = append(ticksX, mark{point{X: x.at(t.At)}, t.Text})
	}
	for _, v := range x.ticks() {
		if c.Ticks == nil {
			ticksX = append(ticksX, mark{point{X: x.at(v)}, number(v)})
		}
	}
	for _, v := range y.ticks() {
		ticksY = append(ticksY, mark{point{Y: y.at(v)}, number(v)})
	}
	var out bytes.Buffer
	err := picture.Execute(&out, map[string]any{"Title": c.Title, "X": c.X, "Y": c.Y,
		"TicksX": ticksX, "TicksY": ticksY, "Lines": lines, "Failed": failed})
	return out.Bytes(), err
}

// A scale says where values lie, in pixels.
type scale struct {
	low, high float64 // logarithms, if log
	log       bool
	from, to  float64
}

// newScale returns a scale from pixel to pixel that has room for values.
func newScale(values []float64, log bool, from, to float64) scale {
	s := scale{math.Inf(1), math.Inf(-1), log, from, to}
	for _, v := range values {
		s.low, s.high = min(s.low, s.in(v)), max(s.high, s.in(v))
	}
	if !(s.low <= s.high) {
		s.low, s.high = 0, 1
	}
	room := 0.05 * (s.high - s.low)
	if room == 0 {
		room = 0.5
	}
	s.low, s.high = s.low-room, s.high+room
	return s
}

func (s scale) in(v float64) float64 {
	if s.log {
		return math.Log10(v)
	}
	return v
}

// at returns the pixel of a value, to a tenth.
func (s scale) at(v float64) float64 {
	return math.Round(10*(s.from+(s.to-s.from)*(s.in(v)-s.low)/(s.high-s.low))) / 10
}

// ticks returns values within the scale: round ones, or six that divide a logarithmic one.
func (s scale) ticks() (values []float64) {
	if s.log {
		for i := range 6 {
			values = append(values, math.Pow(10, s.low+(s.high-s.low)*(1+4*float64(i))/22))
		}
		return values
	}
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/4)))
	for _, times := range []float64{5, 2} {
		if (s.high-s.low)/(times*step) >= 4 {
			step *= times
			break
		}
	}
	for v := math.Ceil(s.low / step); v*step <= s.high; v++ {
		values = append(values, v*step+0) // no -0
	}
	return values
}

// spread returns how many times the largest value is the smallest, 0 if one is not positive.
func spread(values []float64) float64 {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if !(low > 0) || high == 0 {
		return 0
	}
	return high / low
}
