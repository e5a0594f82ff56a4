package stats

import (
	"math"

	"github.com/zofl/zofl/plan"
)

// A Scaler gives each column of a row mean 0 and standard deviation 1 over the data of all devices.
// Any goroutine may use a Scaler.
type Scaler struct {
	mean, factor []float64
}

// level is the largest standard deviation of a column, in magnitudes of its mean, that rounding may
// cause where all values are equal.
const level = 1e-12

// NewScaler returns the scaler of columns, such as the plan's.
func NewScaler(columns []plan.Column) *Scaler {
	s := &Scaler{make([]float64, len(columns)), make([]float64, len(columns))}
	for i, c := range columns {
		s.mean[i] = c.Mean
		if c.Std > level*math.Abs(c.Mean) {
			s.factor[i] = 1 / c.Std
		}
	}
	return s
}

// Columns returns the number of columns of a row.
func (s *Scaler) Columns() int { return len(s.mean) }

// Apply scales a row in place. The row must have an element for each column. A missing value, NaN
// or infinite, becomes 0, which is the mean. So does each value of a column that is the same on all
// devices.
func (s *Scaler) Apply(row []float32) {
	for i, v := range row[:len(s.mean)] {
		row[i] = float32(s.Scale(i, float64(v)))
	}
}

// Scale returns the scaled value of a column, as Apply does.
func (s *Scaler) Scale(column int, v float64) float64 {
	if v-v != 0 {
		return 0
	}
	return (v - s.mean[column]) * s.factor[column]
}
