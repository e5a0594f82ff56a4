package watchtui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/mattn/go-runewidth"
)

// A look is how a text stands out. The colors are the terminal's own sixteen, which can be read on
// its background, be that light or dark.
type look int

const (
	plain look = iota
	strong
	faint
	good
	notable
	bad
	line1 // of a curve
	line2
)

var looks = map[look]lipgloss.Style{
	strong:  lipgloss.NewStyle().Bold(true),
	faint:   lipgloss.NewStyle().Faint(true),
	good:    lipgloss.NewStyle().Foreground(lipgloss.Green).Bold(true),
	notable: lipgloss.NewStyle().Foreground(lipgloss.Magenta).Bold(true),
	bad:     lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true),
	line1:   lipgloss.NewStyle().Foreground(lipgloss.Blue),
	line2:   lipgloss.NewStyle().Foreground(lipgloss.Cyan),
}

// A span is a text with one look, without control characters.
type span struct {
	text string
	look look
}

// A row is a line of the screen.
type row []span

// text returns a row of one span.
func text(s string, l look) row { return row{{s, l}} }

// width returns how many columns a row has.
func (r row) width() (n int) {
	for _, s := range r {
		n += runewidth.StringWidth(s.text)
	}
	return n
}

// to returns the row in exactly so many columns.
func (r row) to(width int) row {
	r = r.within(width)
	if n := width - r.width(); n > 0 {
		r = append(r, span{text: strings.Repeat(" ", n)})
	}
	return r
}

// within returns what of a row fits into so many columns.
func (r row) within(width int) row {
	out := row{}
	for _, s := range r {
		n := runewidth.StringWidth(s.text)
		if n > width {
			if width > 0 {
				out = append(out, span{runewidth.Truncate(s.text, width, "…"), s.look})
			}
			return out
		}
		out, width = append(out, s), width-n
	}
	return out
}

// A paint says whether there are colors.
type paint bool

// draw returns a row with its looks.
func (p paint) draw(r row) string {
	var b strings.Builder
	for _, s := range r {
		style, ok := looks[s.look]
		if !ok || !bool(p) || strings.TrimSpace(s.text) == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString(style.Render(s.text))
	}
	return b.String()
}

// wrapped lays parts out in rows of at most so many columns.
func wrapped(parts []span, width int) (rows []row) {
	const gap = "   "
	var r row
	for _, p := range parts {
		switch {
		case len(r) == 0:
		case r.width()+len(gap)+runewidth.StringWidth(p.text) > width:
			rows, r = append(rows, r), nil
		default:
			r = append(r, span{text: gap})
		}
		r = append(r, p)
	}
	if len(r) > 0 {
		rows = append(rows, r)
	}
	return rows
}
