package watchtui

import (
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"
)

// labels is the number of columns for the numbers beside a curve.
const labels = 9

// A chart draws a curve in Braille characters. Each character has two columns and four rows of
// dots.
type chart struct {
	title       string
	look        lipgloss.Style
	curve       curve
	marks       []float64 // records to mark on the axis
	left, right string    // below the axis
}

// rows draws a chart in exactly the given columns and rows. rows returns empty rows if there are
// fewer than 20 columns or 4 rows.
func (c *chart) rows(width, height int) []string {
	if width < 20 || height < 4 {
		return make([]string, height)
	}
	rows := []string{strong.Render(c.title)}
	if len(c.curve.y) == 0 {
		rows = append(rows, faint.Render("  nothing yet"))
	} else {
		rows = append(rows, c.plot(width-labels-1, height-2)...)
	}
	rows = append(rows, make([]string, height-len(rows))...)
	for i, r := range rows {
		rows[i] = to(r, width)
	}
	return rows
}

// plot draws a curve with the numbers beside it, and the axis below.
func (c *chart) plot(width, height int) (rows []string) {
	low, high := bounds(c.curve.y)
	for i, cells := range dots(c.curve, low, high, width, height) {
		label := ""
		switch {
		case i == 0:
			label = number(high)
		case i == height-1:
			label = number(low)
		}
		label = fmt.Sprintf("%*s │", labels-1, label)
		rows = append(rows, faint.Render(label)+c.look.Render(string(cells)))
	}
	return append(rows, c.axis(width))
}

// axis returns the line below a curve, with its marks.
func (c *chart) axis(plot int) string {
	line := []rune(strings.Repeat("─", plot))
	first, last := c.curve.n[0], c.curve.n[len(c.curve.n)-1]
	room := max(0, plot-len(c.left)-len(c.right)-2)
	line = append([]rune(c.left+" "), line[:room]...)
	line = append(line, []rune(" "+c.right)...)
	for _, n := range c.marks {
		at := column(n, first, last, plot)
		if at >= 0 && at < len(line) && line[at] == '─' {
			line[at] = '▲'
		}
	}
	return faint.Render(strings.Repeat(" ", labels) + "└" + string(line))
}

// bounds returns the least and the greatest value. If both are equal, bounds moves them apart.
func bounds(y []float64) (low, high float64) {
	low, high = y[0], y[0]
	for _, v := range y {
		low, high = min(low, v), max(high, v)
	}
	if low == high {
		d := max(math.Abs(low)/10, 1e-9)
		low, high = low-d, high+d
	}
	return low, high
}

// column returns the column of a record in a chart with the given number of columns.
func column(n, first, last float64, columns int) int {
	if last <= first {
		return columns - 1
	}
	return int(math.Round((n - first) / (last - first) * float64(columns-1)))
}

// braille has the bit of each dot in a Braille character, by column and by row from the top.
var braille = [2][4]rune{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// dots draws a curve: the mean of the values in a column of dots, and lines between columns.
func dots(c curve, low, high float64, width, height int) [][]rune {
	grid := make([][]rune, height)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", width))
	}
	set := func(x, y int) {
		cell := &grid[y/4][x/2]
		if *cell == ' ' {
			*cell = 0x2800
		}
		*cell |= braille[x%2][y%4]
	}
	level := func(v float64) int {
		return int(math.Round((high - v) / (high - low) * float64(4*height-1)))
	}
	x0, y0 := -1, 0
	for i := 0; i < len(c.y); {
		x := column(c.n[i], c.n[0], c.n[len(c.n)-1], 2*width)
		sum, n := 0.0, 0
		for ; i < len(c.y) && column(c.n[i], c.n[0], c.n[len(c.n)-1], 2*width) == x; i++ {
			sum, n = sum+c.y[i], n+1
		}
		y := level(sum / float64(n))
		if x0 < 0 {
			x0, y0 = x, y
		}
		join(x0, y0, x, y, set)
		x0, y0 = x, y
	}
	return grid
}

// join sets the dots on the line from (x0, y0) to (x1, y1).
func join(x0, y0, x1, y1 int, set func(x, y int)) {
	steps := max(x1-x0, y1-y0, y0-y1, 1)
	for i := range steps + 1 {
		f := float64(i) / float64(steps)
		set(x0+int(math.Round(f*float64(x1-x0))), y0+int(math.Round(f*float64(y1-y0))))
	}
}

// number writes a number with four digits.
func number(v float64) string { return fmt.Sprintf("%.4g", v) }
