package lab

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Table is rows of text.
type Table struct {
	Columns []string
	Rows    [][]string
}

// Add adds a row of values.
func (t *Table) Add(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = fmt.Sprint(v)
	}
	t.Rows = append(t.Rows, row)
}

// WriteCSV writes the columns' names and the rows.
func (t *Table) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(t.Columns); err != nil {
		return err
	}
	return c.WriteAll(t.Rows)
}

// WriteMarkdown writes the table for a page.
func (t *Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(t.Columns)
	b.WriteString(strings.Repeat("|---", len(t.Columns)) + "|\n")
	for _, row := range t.Rows {
		line(row)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes {id, claims: [{claim, figures, holds}]}, with the field screened if the report
// is screened. A claim for which the run is too short has the field too_short, and null as holds.
func (r *Report) WriteJSON(w io.Writer) error {
	claims := make([]writtenClaim, len(r.Claims))
	for i := range r.Claims {
		claims[i] = r.Claims[i].written()
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		ID       string         `json:"id"`
		Claims   []writtenClaim `json:"claims"`
		Screened bool           `json:"screened,omitempty"`
	}{r.ID, claims, r.Screened})
}

// WriteText writes a line for each claim.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	held, untold := 0, 0
	if r.Short {
		b.WriteString("--short: verdicts are of this size, which may be less than the paper's\n")
	}
	if r.Screened {
		b.WriteString(byGradients + ": rounds made no queries; spared queries are those that " +
			"black boxes would have made\n")
	}
	for i := range r.Claims {
		c := &r.Claims[i]
		if c.TooShort != "" {
			untold++
		} else if c.Holds {
			held++
		}
		b.WriteString(c.line())
	}
	fmt.Fprintf(&b, "%s: %d of %d claims hold here", r.ID, held, len(r.Claims))
	if untold > 0 {
		fmt.Fprintf(&b, ", of %d nobody can tell", untold)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}
