package plan

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/prng"
)

// Append appends the encoding of p to b: a map from field numbers to values, ascending, without
// zero fields. The encoding is the body of record 1.
func (p *Plan) Append(b []byte) []byte {
	n := 0
	for i := range planFields {
		if !planFields[i].IsZero(p) {
			n++
		}
	}
	b = codec.AppendMap(b, n)
	for i := range planFields {
		if f := &planFields[i]; !f.IsZero(p) {
			b = appendValue(codec.AppendUint(b, f.Number), f.At(p))
		}
	}
	return b
}

// Decode reads a plan from the beginning of b, and returns the bytes after the plan. Decode does
// not check that the plan can run: package plan/valid does. An error names the field, and matches
// one of the faults of frames.
func Decode(b []byte) (p *Plan, rest []byte, err error) {
	d, p := fieldReader{codec.NewReader("plan", b)}, &Plan{}
	d.Keys("plan", func(key uint64) bool {
		f := fieldByNumber(key)
		if f == nil {
			return false
		}
		d.value(f, f.At(p))
		if d.OK() && f.IsZero(p) {
			d.Fail(f.Name, codec.ErrForm)
		}
		return true
	})
	if p.Scheme > prng.Scheme {
		d.Fail("scheme", codec.ErrUpgrade)
	}
	return p, d.Rest(), d.FieldFault()
}

// A fieldReader reads the fields of a plan.
type fieldReader struct{ codec.Reader }

func appendValue(b []byte, at any) []byte {
	switch v := at.(type) {
	case *string:
		return codec.AppendString(b, *v)
	case *uint8:
		return codec.AppendUint(b, uint64(*v))
	case *uint32:
		return codec.AppendUint(b, uint64(*v))
	case *uint64:
		return codec.AppendUint(b, *v)
	case *float32:
		return codec.AppendFinite(b, *v)
	case *Bytes:
		return codec.AppendBin(b, *v)
	case *[]string:
		b = codec.AppendArray(b, len(*v))
		for _, s := range *v {
			b = codec.AppendString(b, s)
		}
	case *[]Segment:
		b = codec.AppendArray(b, len(*v))
		for _, s := range *v {
			b = s.append(b)
		}
	case *[]PerturbationPoint:
		b = codec.AppendArray(b, len(*v))
		for _, s := range *v {
			b = codec.AppendUint(codec.AppendArray(b, 2), s.Round)
			b = codec.AppendUint(b, uint64(s.Perturbations))
		}
	case *[]Column:
		b = codec.AppendArray(b, len(*v))
		for i := range *v {
			b = (*v)[i].append(b)
		}
	case *[]Box:
		b = codec.AppendArray(b, len(*v))
		for _, box := range *v {
			b = codec.AppendFinite(codec.AppendFinite(codec.AppendArray(b, 2), box.Low), box.High)
		}
	}
	return b
}

// append appends a segment: the array [name, len, fill, scale, mu scale, step scale], and rows
// unless that is 0.
func (s *Segment) append(b []byte) []byte {
	if s.Rows == 0 {
		return s.appendAll(codec.AppendArray(b, segmentParts))
	}
	return codec.AppendUint(s.appendAll(codec.AppendArray(b, segmentParts+1)), s.Rows)
}

// segmentParts is the number of elements of a segment without rows.
const segmentParts = 6

func (s *Segment) appendAll(b []byte) []byte {
	b = codec.AppendString(b, s.Name)
	b = codec.AppendUint(codec.AppendUint(b, s.Len), uint64(s.Fill))
	b = codec.AppendFinite(codec.AppendFinite(b, s.Scale), s.MuScale)
	return codec.AppendFinite(b, s.StepScale)
}

// value reads the value of field f into *at.
func (d *fieldReader) value(f *Field, at any) {
	switch v := at.(type) {
	case *string:
		*v = d.String(f.Name, MaxName)
	case *uint8:
		*v = d.choice(f)
	case *uint32:
		*v = uint32(d.Uint(f.Name, math.MaxUint32))
	case *uint64:
		*v = d.Uint(f.Name, math.MaxInt64)
	case *float32:
		*v = d.Finite(f.Name)
	case *Bytes:
		*v = append(Bytes(nil), d.Bin(f.Name, 64)...)
	case *[]string:
		*v = make([]string, d.Array(f.Name, MaxMetrics, 1))
		for i := range *v {
			(*v)[i] = d.String(f.Name, MaxName)
		}
	case *[]Segment:
		*v = make([]Segment, d.Array(f.Name, MaxSegments, 19))
		for i := range *v {
			(*v)[i] = d.segment()
		}
	case *[]PerturbationPoint:
		*v = make([]PerturbationPoint, d.Array(f.Name, MaxPoints, 3))
		for i := range *v {
			d.Tuple(f.Name, 2)
			round, n := d.Uint(f.Name, math.MaxInt64), d.Uint(f.Name, math.MaxUint16)
			(*v)[i] = PerturbationPoint{round, uint32(n)}
		}
	case *[]Column:
		*v = make([]Column, d.Array(f.Name, MaxColumns, leastColumn))
		for i := range *v {
			(*v)[i] = d.column()
		}
	case *[]Box:
		*v = make([]Box, d.Array(f.Name, MaxSegments, 11))
		for i := range *v {
			d.Tuple(f.Name, 2)
			(*v)[i] = Box{d.Finite(f.Name), d.Finite(f.Name)}
		}
	}
}

// choice reads the number of a choice; the error for an unknown choice is ErrUpgrade.
func (d *fieldReader) choice(f *Field) uint8 {
	v := d.Uint(f.Name, math.MaxUint8)
	if v >= uint64(len(f.names)) || v > 0 && f.names[v] == "" {
		d.Fail(f.Name, codec.ErrUpgrade)
	}
	return uint8(v)
}

func (d *fieldReader) segment() Segment {
	parts := d.Array("segment", codec.MaxFields, 1)
	if parts != segmentParts && parts != segmentParts+1 {
		d.Fail("segment", codec.ErrForm)
	}
	s := Segment{Name: d.String("segment name", MaxName), Len: d.Uint("segment len", MaxDim)}
	s.Fill = Fill(d.Known("segment fill", uint64(NormalFill)))
	s.Scale = d.Finite("segment scale")
	s.MuScale = d.Finite("segment mu scale")
	s.StepScale = d.Finite("segment step scale")
	if parts > segmentParts {
		s.Rows = d.Nonzero("segment rows", d.Uint("segment rows", MaxDim))
	}
	return s
}
