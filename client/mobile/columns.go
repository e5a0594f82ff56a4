package mobile

import (
	"math"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
)

// Columns describes the rows of this device's data: for [Config.SetColumns]. It keeps no row.
type Columns struct {
	count int
	rows  *stats.Accumulator
}

// NewColumns returns a Columns for rows of so many columns.
func NewColumns(count int) (c *Columns, err error) {
	defer guard(&err)
	if count < 1 || count > plan.MaxColumns {
		return nil, faultf(CodeConfig, "NewColumns: %d columns: give 1 to %d", count, plan.MaxColumns)
	}
	return &Columns{count, stats.New(count)}, nil
}

// AddRow adds a row: 4 bytes a column, little-endian float32. NaN and infinities are missing
// values.
func (c *Columns) AddRow(row []byte) (err error) {
	defer guard(&err)
	if c == nil || c.rows == nil {
		return faultf(CodeConfig, "AddRow: make Columns with NewColumns")
	}
	if len(row) != floatBytes*c.count {
		return faultf(CodeConfig, "AddRow: %d bytes: give 4 for each of the %d columns", len(row),
			c.count)
	}
	stats.Add(c.rows, getFloats(row))
	return nil
}

// SetColumns sets what describes this device's data, for a plan with columns. Before round 1 the
// devices find one scale from it: see [Plan.Scaler].
func (c *Config) SetColumns(columns *Columns) (err error) {
	defer guard(&err)
	if columns == nil || columns.rows == nil {
		return faultf(CodeConfig, "SetColumns: make Columns with NewColumns")
	}
	c.columns = columns.rows.Columns()
	return nil
}

// A Scaler gives each column of a row mean 0 and standard deviation 1 over the data of all devices.
type Scaler struct{ columns []plan.Column }

// Scaler returns the run's scaler. It is null before the devices have found it, and in a run
// without columns. A loss in a run with columns always finds one.
func (p *Plan) Scaler() *Scaler {
	if len(p.plan.Stats) == 0 {
		return nil
	}
	return &Scaler{p.plan.Stats}
}

// Scaler returns the run's scaler, or null: see [Plan.Scaler].
func (c *Client) Scaler() *Scaler {
	defer contain()
	if !c.isMade() {
		return nil
	}
	if columns := c.inner.Stats(); columns != nil {
		return &Scaler{columns}
	}
	return nil
}

// Columns is the number of columns of a row.
func (s *Scaler) Columns() int {
	if s == nil {
		return 0
	}
	return len(s.columns)
}

// Mean is the mean of a column; NaN if there is no such column.
func (s *Scaler) Mean(column int) float64 {
	return s.of(column, func(c *plan.Column) float64 { return c.Mean })
}

// Std is the standard deviation of a column; NaN if there is no such column.
func (s *Scaler) Std(column int) float64 {
	return s.of(column, func(c *plan.Column) float64 { return c.Std })
}

func (s *Scaler) of(column int, read func(*plan.Column) float64) float64 {
	if s == nil || column < 0 || column >= len(s.columns) {
		return math.NaN()
	}
	return read(&s.columns[column])
}

// Scaled returns a row scaled: both have 4 bytes a column, little-endian float32. A missing value,
// NaN or infinite, becomes 0, which is the mean. So does each value of a column that is the same on
// all devices.
func (s *Scaler) Scaled(row []byte) (scaled []byte, err error) {
	defer guard(&err)
	if s == nil || len(row) != floatBytes*len(s.columns) {
		return nil, faultf(CodeConfig, "Scaled: %d bytes: give 4 for each of the %d columns", len(row),
			s.Columns())
	}
	values := getFloats(row)
	stats.NewScaler(s.columns).Apply(values)
	return bytesOf(values), nil
}
