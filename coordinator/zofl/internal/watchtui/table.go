package watchtui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// widths are those of the columns after the id.
var widths = []int{9, 12, 10, 10, 8}

// told is how wide the column of what a device tells of itself is. It is there where told and
// aside columns have room.
const (
	told  = 44
	aside = 66
)

// tableHead is how many rows stand above the devices.
const tableHead = 2

// table draws the table in so many columns and rows.
func (f *fleet) table(width, height int) []row {
	f.shown = max(0, height-tableHead)
	f.scroll(0)
	rows := []row{f.head(width), f.titles(width)}
	for i := f.top; i < min(f.top+f.shown, f.rows.Matching); i++ {
		at := i - f.rows.From
		if at < 0 || at >= len(f.rows.Devices) {
			rows = append(rows, text("…", faint))
			continue
		}
		rows = append(rows, deviceRow(&f.rows.Devices[at], width))
	}
	return rows
}

// head says how many devices there are, and which are shown.
func (f *fleet) head(width int) row {
	r := row{{"devices", strong}}
	switch {
	case !f.known:
		return r
	case f.rows.Members == 0:
		return append(r, span{"  none has joined, or the roster is open and lists nobody", faint})
	}
	some := fmt.Sprintf("  %d to %d of %d", min(f.top+1, f.rows.Matching),
		min(f.top+f.shown, f.rows.Matching), f.rows.Matching)
	if f.rows.Matching != f.rows.Members {
		some += fmt.Sprintf(", %d in all", f.rows.Members)
	}
	r = append(r, span{some, faint})
	if f.typing || f.filter != "" {
		cursor := ""
		if f.typing {
			cursor = "▏"
		}
		r = append(r, span{"  / " + f.filter + cursor, notable})
	}
	return r.within(width)
}

// titles are those of the columns, with the keys that sort by them.
func (f *fleet) titles(width int) row {
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
	return text(strings.Join(cellsTo(append(cells, "tells"), width), ""), faint)
}

// cellsTo brings cells to the widths of their columns: the id has what the others leave. A narrow
// table leaves out the last one.
func cellsTo(cells []string, width int) []string {
	rest, widths := width, widths
	if width >= told+aside {
		widths = append(slices.Clip(widths), told)
	}
	for _, w := range widths {
		rest -= w + 1
	}
	rest = max(rest, 8)
	out := []string{runewidth.FillRight(runewidth.Truncate(cells[0], rest, "…"), rest)}
	for i, w := range widths {
		cell := runewidth.Truncate(cells[i+1], w, "…")
		out = append(out, " "+runewidth.FillRight(cell, w))
	}
	return out
}

func deviceRow(d *operate.Device, width int) row {
	seen := "never"
	if d.LastSeen != nil {
		seen = short(time.Duration(d.Silence*float64(time.Second))) + " ago"
	}
	latency := ""
	if d.Latency > 0 {
		latency = short(time.Duration(d.Latency * float64(time.Millisecond)))
	}
	cells := cellsTo([]string{terminal.Plain(d.ID), terminal.Plain(d.State), seen, latency,
		fmt.Sprint(d.Declines), fmt.Sprint(d.Missed), tells(d)}, width)
	state := bad
	if !d.Absent() {
		state = good
	}
	return row{{cells[0], plain}, {cells[1], state}, {strings.Join(cells[2:], ""), plain}}
}

// tells is what a device says of itself, what may keep it from work first.
func tells(d *operate.Device) string {
	var parts []string
	if d.Battery > 0 {
		parts = append(parts, fmt.Sprintf("%d %%", d.Battery))
	}
	for _, part := range []string{d.Power, d.Network, d.Program, d.Platform} {
		if part != "" {
			parts = append(parts, terminal.Plain(part))
		}
	}
	return strings.Join(parts, ", ")
}

// short returns as much of a time as a column has room for.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(time.Second / 10).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}
