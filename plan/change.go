package plan

import "github.com/zofl/zofl/internal/codec"

// A Change is the body of a KindChange record: it gives fields of the plan new values. A change is
// encoded like a plan, with exactly the fields that it names, even if they are zero. Build a change
// with planfile.SetChange.
//
// Invariants:
//  1. Fields are the numbers of changeable fields, ascending, at least one.
//  2. Values holds the new values.
type Change struct {
	Fields []uint64
	Values Plan
}

// Apply sets the fields of p that c names. The result may be a plan that cannot run: check it with
// package plan/valid.
func (c *Change) Apply(p *Plan) {
	for _, number := range c.Fields {
		f := fieldByNumber(number)
		f.value(p).Set(f.value(&c.Values))
	}
}

// Append appends the encoding of c to b.
func (c *Change) Append(b []byte) []byte {
	b = codec.AppendMap(b, len(c.Fields))
	for _, number := range c.Fields {
		b = appendValue(codec.AppendUint(b, number), fieldByNumber(number).At(&c.Values))
	}
	return b
}

// DecodeChange reads a change from the beginning of b, and returns the bytes after the change. A
// field that this version cannot change may be changeable in a later version. So DecodeChange
// refuses such a field like an unknown field.
func DecodeChange(b []byte) (c *Change, rest []byte, err error) {
	d, c := fieldReader{codec.NewReader("change", b)}, &Change{}
	d.Keys("body", func(key uint64) bool {
		f := fieldByNumber(key)
		if f == nil || !f.Changeable {
			return false
		}
		c.Fields = append(c.Fields, key)
		d.value(f, f.At(&c.Values))
		return true
	})
	if len(c.Fields) == 0 {
		d.Fail("body", codec.ErrValue)
	}
	return c, d.Rest(), d.FieldFault()
}
