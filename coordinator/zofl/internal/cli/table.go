package cli

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
)

// NewTable returns a table that Render prints to out.
func NewTable(out io.Writer, header ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	if len(header) > 0 {
		t.AppendHeader(header)
	}
	return t
}

// Size writes a number of bytes with its unit.
func Size(bytes uint64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.2f MiB", float64(bytes)/(1<<20))
	case bytes < 1<<10:
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
}

// TextWidth is where a warning or a note breaks lines, in columns.
const TextWidth = 90
