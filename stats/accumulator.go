package stats

import (
	"math"

	"github.com/zofl/zofl/plan"
)

// A Number is an element of a row.
type Number interface{ ~float32 | ~float64 }

// Of describes the columns of rows. All rows have as many elements as the first one.
func Of[T Number](rows [][]T) []plan.Column {
	if len(rows) == 0 {
		return nil
	}
	a := New(len(rows[0]))
	for _, row := range rows {
		Add(a, row)
	}
	return a.Columns()
}

// An Accumulator describes rows that come one by one. Its sums are about the mean so far, so a mean
// that is large beside the spread costs no precision.
type Accumulator struct{ columns []moments }

// moments are the statistics of a column so far.
type moments struct {
	count, missing  uint64
	mean, squares   float64 // squares: of the differences from the mean
	least, greatest float64
}

// New returns an Accumulator of rows with so many columns.
func New(columns int) *Accumulator { return &Accumulator{make([]moments, columns)} }

// Add adds a row, which has an element for each column. NaN and infinities are missing values.
func Add[T Number](a *Accumulator, row []T) {
	for i := range a.columns {
		a.columns[i].add(float64(row[i]))
	}
}

func (m *moments) add(v float64) {
	if v-v != 0 {
		m.missing++
		return
	}
	m.merge(&moments{count: 1, mean: v, least: v, greatest: v})
}

// merge adds the values that b describes (Chan, Golub and LeVeque 1983).
func (m *moments) merge(b *moments) {
	m.missing += b.missing
	switch {
	case b.count == 0:
	case m.count == 0:
		m.count, m.mean, m.squares, m.least, m.greatest =
			b.count, b.mean, b.squares, b.least, b.greatest
	default:
		n := float64(m.count + b.count)
		share, apart := float64(b.count)/n, b.mean-m.mean
		m.squares += b.squares + apart*apart*float64(m.count)*share
		m.mean += apart * share
		m.count += b.count
		m.least, m.greatest = min(m.least, b.least), max(m.greatest, b.greatest)
	}
}

// Columns returns the statistics of the rows so far.
func (a *Accumulator) Columns() []plan.Column {
	columns := make([]plan.Column, len(a.columns))
	for i := range columns {
		columns[i] = a.columns[i].column()
	}
	return columns
}

func (m *moments) column() plan.Column {
	c := plan.Column{Count: m.count, Missing: m.missing}
	if m.count > 0 {
		least, greatest := m.least, m.greatest
		c.Mean, c.Std = m.mean, math.Sqrt(m.squares/float64(m.count))
		c.Min, c.Max = &least, &greatest
	}
	return c
}

// momentsOf is the inverse of column.
func momentsOf(c *plan.Column) *moments {
	m := &moments{count: c.Count, missing: c.Missing, mean: c.Mean,
		squares: c.Std * c.Std * float64(c.Count), least: c.Mean, greatest: c.Mean}
	if c.Min != nil && c.Max != nil {
		m.least, m.greatest = *c.Min, *c.Max
	}
	return m
}
