package watchtui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// These are the styles of texts. Their colors are among the sixteen of the terminal's palette, so
// they are readable on a light and on a dark background.
var (
	plain   = lipgloss.NewStyle()
	strong  = plain.Bold(true)
	faint   = plain.Faint(true)
	good    = strong.Foreground(lipgloss.Green)
	notable = strong.Foreground(lipgloss.Magenta)
	bad     = strong.Foreground(lipgloss.Red)
	line1   = plain.Foreground(lipgloss.Blue) // of a curve
	line2   = plain.Foreground(lipgloss.Cyan)
)

// within cuts a text to at most width columns.
func within(text string, width int) string { return ansi.Truncate(text, max(width, 0), "…") }

// to cuts or pads a text to exactly width columns.
func to(text string, width int) string {
	text = within(text, width)
	return text + strings.Repeat(" ", max(width-lipgloss.Width(text), 0))
}

// wrapped joins parts to rows of at most width columns.
func wrapped(parts []string, width int) (rows []string) {
	const gap = "   "
	for _, part := range parts {
		last := len(rows) - 1
		if last < 0 || lipgloss.Width(rows[last]+gap+part) > width {
			rows = append(rows, part)
		} else {
			rows[last] += gap + part
		}
	}
	return rows
}
