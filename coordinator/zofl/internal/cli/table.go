package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// NewTable returns a table that Render prints to out. Its cells may hold texts from other programs.
func NewTable(out io.Writer, header ...any) Table {
	t := Table{table.NewWriter()}
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	if len(header) > 0 {
		t.AppendHeader(header)
	}
	return t
}

// NewPlainTable returns a table of columns without lines.
func NewPlainTable(out io.Writer, header ...any) Table {
	t := NewTable(out)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	t.AppendHeader(header)
	return t
}

// A Table removes control characters from its cells, so that no cell can control the terminal.
type Table struct{ table.Writer }

func (t Table) AppendHeader(row table.Row, configs ...table.RowConfig) {
	t.Writer.AppendHeader(plainRow(row), configs...)
}

func (t Table) AppendRow(row table.Row, configs ...table.RowConfig) {
	t.Writer.AppendRow(plainRow(row), configs...)
}

func (t Table) AppendRows(rows []table.Row, configs ...table.RowConfig) {
	for _, row := range rows {
		t.AppendRow(row, configs...)
	}
}

// AppendIf appends a row if says is true.
func (t Table) AppendIf(says bool, row ...any) {
	if says {
		t.AppendRow(row)
	}
}

func plainRow(row table.Row) table.Row {
	plain := slices.Clone(row)
	for i, cell := range row {
		if text, ok := cell.(string); ok {
			plain[i] = terminal.PlainLines(text)
		}
	}
	return plain
}

// Size writes a number of bytes with a suitable unit.
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

// TextWidth is the longest line of a warning or a note, in columns.
const TextWidth = 90
