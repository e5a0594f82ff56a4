package stats

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/plan"
)

// perColumn is how many numbers of an answer describe a column: count, missing, mean, std, min and
// max, each as a float32 and what it leaves of a float64.
const perColumn = 12

// Values returns how many 4-byte numbers a device of the plan sends.
func Values(p *plan.Plan) int {
	if p.Summed() {
		return wordsOf(int(p.Columns))
	}
	return perColumn * int(p.Columns)
}

// Append appends a device's answer to values.
func Append(values []float32, columns []plan.Column) ([]float32, error) {
	for i := range columns {
		c := &columns[i]
		m := momentsOf(c)
		for _, v := range []float64{float64(c.Count), float64(c.Missing), c.Mean, c.Std,
			m.least, m.greatest} {
			high := float32(v)
			if high-high != 0 {
				return nil, fmt.Errorf("column %d has a value near %.3g, beyond float32: measure it in "+
					"another unit", i, v)
			}
			values = append(values, high, float32(v-float64(high)))
		}
	}
	return values, nil
}

// Read reads a device's answer. ok is false if no honest device sends it.
func Read(values []float32) (columns []plan.Column, ok bool) {
	for ; len(values) >= perColumn; values = values[perColumn:] {
		v := [perColumn / 2]float64{}
		for i := range v {
			v[i] = float64(values[2*i]) + float64(values[2*i+1])
		}
		c := plan.Column{Mean: v[2], Std: v[3]}
		if !whole(v[0], &c.Count) || !whole(v[1], &c.Missing) || !possible(&c, v[4], v[5]) {
			return nil, false
		}
		if c.Count > 0 {
			c.Min, c.Max = &v[4], &v[5]
		}
		columns = append(columns, c)
	}
	return columns, len(values) == 0
}

// mostRows bounds the rows of a device, so that a float64 holds the rows of all devices.
const mostRows = 1 << 32

func whole(v float64, to *uint64) bool {
	*to = uint64(v)
	return v >= 0 && v <= mostRows && v == math.Trunc(v)
}

// possible says whether some values have these statistics, up to rounding.
func possible(c *plan.Column, least, greatest float64) bool {
	if c.Count == 0 {
		return c.Mean == 0 && c.Std == 0 && least == 0 && greatest == 0
	}
	room := 1e-6 * max(math.Abs(least), math.Abs(greatest))
	return least-least == 0 && greatest-greatest == 0 && least <= greatest &&
		c.Mean >= least-room && c.Mean <= greatest+room &&
		c.Std >= 0 && c.Std <= (greatest-least)/2+room
}
