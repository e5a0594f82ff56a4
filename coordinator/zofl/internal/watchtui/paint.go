package watchtui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// How texts stand out. The colors are the terminal's own sixteen, which can be read on its
// background, be that light or dark.
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

// within returns what of a text fits into so many columns.
func within(text string, width int) string { return ansi.Truncate(text, max(width, 0), "…") }

// to returns a text in exactly so many columns.
func to(text string, width int) string {
	text = within(text, width)
	return text + strings.Repeat(" ", max(width-lipgloss.Width(text), 0))
}

// wrapped lays parts out in rows of at most the given number of columns.
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
