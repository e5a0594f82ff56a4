package plan

import "github.com/zofl/zofl/internal/codec"

const (
	// MaxColumns bounds the columns whose statistics devices find: a record has to hold them.
	MaxColumns = 784
	// leastColumn is the least length of a column's encoding in bytes.
	leastColumn = 21
	// MaxRows bounds the rows of all devices.
	MaxRows = 1 << 52
)

// A Column has the statistics of one column of the data of all devices.
type Column struct {
	Count   uint64  `json:"count"`
	Missing uint64  `json:"missing,omitempty"` // values that are NaN or infinite; Count lacks them
	Mean    float64 `json:"mean"`
	Std     float64 `json:"std"` // standard deviation: the mean square is over Count
	// Min and Max are nil if Count is 0, and where only sums are known.
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
}

// append appends a column: the array [count, missing, mean, std], and then min and max if both are
// known.
func (c *Column) append(b []byte) []byte {
	extremes := c.Min != nil && c.Max != nil
	size := 4
	if extremes {
		size = 6
	}
	b = codec.AppendUint(codec.AppendArray(b, size), c.Count)
	b = codec.AppendDouble(codec.AppendDouble(codec.AppendUint(b, c.Missing), c.Mean), c.Std)
	if extremes {
		b = codec.AppendDouble(codec.AppendDouble(b, *c.Min), *c.Max)
	}
	return b
}

func (d *fieldReader) column() (c Column) {
	size := d.Array("stats", 6, 1)
	if d.OK() && size != 4 && size != 6 {
		d.Fail("stats", codec.ErrForm)
	}
	c.Count, c.Missing = d.Uint("stats count", MaxRows), d.Uint("stats missing", MaxRows)
	c.Mean, c.Std = d.Double("stats mean"), d.Double("stats std")
	if size == 6 {
		least, greatest := d.Double("stats min"), d.Double("stats max")
		c.Min, c.Max = &least, &greatest
	}
	return c
}
