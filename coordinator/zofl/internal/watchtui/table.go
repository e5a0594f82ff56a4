package watchtui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// widths are the widths of the columns after the id.
var widths = []int{9, 12, 10, 10, 8}

// told is the width of the column with what a device says about itself. A table has this column if
// it is at least told+aside columns wide.
const (
	told  = 44
	aside = 66
)

// tableHead is how many rows stand above the devices.
const tableHead = 2

// table draws the table in the given number of columns and rows.
func (f *fleet) table(width, height int) []string {
	f.shown = max(0, height-tableHead)
	f.scroll(0)
	rows := []string{f.head(), f.titles(width)}
	for i := f.top; i < min(f.top+f.shown, f.rows.Matching); i++ {
		at := i - f.rows.From
		if at < 0 || at >= len(f.rows.Devices) {
			rows = append(rows, faint.Render("…"))
			continue
		}
		rows = append(rows, deviceRow(&f.rows.Devices[at], width))
	}
	return rows
}

// head says how many devices the table has, and which of them are on the screen.
func (f *fleet) head() string {
	r := strong.Render("devices")
	switch {
	case !f.known:
		return r
	case f.rows.Members == 0:
		return r + faint.Render("  none has joined, or the roster is open and lists nobody")
	}
	some := fmt.Sprintf("  %d to %d of %d", min(f.top+1, f.rows.Matching),
		min(f.top+f.shown, f.rows.Matching), f.rows.Matching)
	if f.rows.Matching != f.rows.Members {
		some += fmt.Sprintf(", %d in all", f.rows.Members)
	}
	r += faint.Render(some)
	if f.typing || f.filter != "" {
		cursor := ""
		if f.typing {
			cursor = "▏"
		}
		r += notable.Render("  / " + f.filter + cursor)
	}
	return r
}

// titles are the titles of the columns, with the keys that sort by them.
func (f *fleet) titles(width int) string {
	cells := make([]string, len(widths)+1, len(widths)+2)
	for i, column := range operate.Columns() {
		cells[i] = fmt.Sprintf("%d %s", i+1, column)
		switch {
		case f.sort == column && f.descending:
			cells[i] += " ▼"
		case f.sort == column:
			cells[i] += " ▲"
		}
	}
	return faint.Render(strings.Join(cellsTo(append(cells, "tells"), width), " "))
}

// cellsTo fits cells to the widths of their columns; the id gets the rest of the width. A narrow
// table leaves out the last cell.
func cellsTo(cells []string, width int) []string {
	rest, widths := width, widths
	if width >= told+aside {
		widths = append(slices.Clip(widths), told)
	}
	for _, w := range widths {
		rest -= w + 1
	}
	rest = max(rest, 8)
	out := []string{to(cells[0], rest)}
	for i, w := range widths {
		out = append(out, to(cells[i+1], w))
	}
	return out
}

func deviceRow(d *operate.Device, width int) string {
	seen := "never"
	if d.LastSeen != nil {
		seen = terminal.Brief(d.Silence) + " ago"
	}
	latency := ""
	if d.Latency > 0 {
		latency = terminal.Brief(d.Latency / 1000)
	}
	cells := cellsTo([]string{terminal.Plain(d.ID), terminal.Plain(d.State), seen, latency,
		fmt.Sprint(d.Declines), fmt.Sprint(d.Missed), terminal.Plain(d.Tells())}, width)
	state := good
	if d.Absent() {
		state = bad
	}
	cells[1] = state.Render(cells[1])
	return strings.Join(cells, " ")
}
