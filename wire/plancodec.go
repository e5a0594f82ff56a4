package wire

import (
	"math"

	"github.com/zofl/zofl/prng"
)

// The encoding of a plan is a map from field numbers to values, in ascending order, of
// the fields that are not zero.

func (p *Plan) append(b []byte) []byte {
	n := 0
	for i := range planFields {
		if !isZero(planFields[i].at(p)) {
			n++
		}
	}
	b = appendMap(b, n)
	for i := range planFields {
		if f := &planFields[i]; !isZero(f.at(p)) {
			b = appendValue(appendUint(b, f.Number), f.at(p))
		}
	}
	return b
}

func (d *reader) plan() *Plan {
	p := &Plan{}
	d.keys("plan", func(key uint64) bool {
		f := fieldByNumber(key)
		if f == nil {
			return false
		}
		d.value(f, f.at(p))
		if d.err == nil && isZero(f.at(p)) {
			d.fail(f.Name, ErrForm)
		}
		return true
	})
	if p.Scheme > prng.Scheme {
		d.fail("scheme", ErrUpgrade)
	}
	return p
}

func isZero(at any) bool {
	switch v := at.(type) {
	case *string:
		return *v == ""
	case *uint8:
		return *v == 0
	case *uint32:
		return *v == 0
	case *uint64:
		return *v == 0
	case *float32:
		return *v == 0 // and -0, which no plan has
	case *Bytes:
		return len(*v) == 0
	case *[]string:
		return len(*v) == 0
	case *[]Segment:
		return len(*v) == 0
	case *[]StepPoint:
		return len(*v) == 0
	case *[]PerturbationPoint:
		return len(*v) == 0
	case *[]Box:
		return len(*v) == 0
	}
	panic("wire: internal error: plan field of no type")
}

func copyValue(dst, src any) {
	switch v := dst.(type) {
	case *string:
		*v = *src.(*string)
	case *uint8:
		*v = *src.(*uint8)
	case *uint32:
		*v = *src.(*uint32)
	case *uint64:
		*v = *src.(*uint64)
	case *float32:
		*v = *src.(*float32)
	case *Bytes:
		*v = *src.(*Bytes)
	case *[]string:
		*v = *src.(*[]string)
	case *[]Segment:
		*v = *src.(*[]Segment)
	case *[]StepPoint:
		*v = *src.(*[]StepPoint)
	case *[]PerturbationPoint:
		*v = *src.(*[]PerturbationPoint)
	case *[]Box:
		*v = *src.(*[]Box)
	default:
		panic("wire: internal error: plan field of no type")
	}
}

func appendValue(b []byte, at any) []byte {
	switch v := at.(type) {
	case *string:
		return appendString(b, *v)
	case *uint8:
		return appendUint(b, uint64(*v))
	case *uint32:
		return appendUint(b, uint64(*v))
	case *uint64:
		return appendUint(b, *v)
	case *float32:
		return appendFinite(b, *v)
	case *Bytes:
		return appendBin(b, *v)
	case *[]string:
		b = appendArray(b, len(*v))
		for _, s := range *v {
			b = appendString(b, s)
		}
	case *[]Segment:
		b = appendArray(b, len(*v))
		for _, s := range *v {
			b = s.append(b)
		}
	case *[]StepPoint:
		b = appendArray(b, len(*v))
		for _, s := range *v {
			b = appendFinite(appendUint(appendArray(b, 2), s.Round), s.Factor)
		}
	case *[]PerturbationPoint:
		b = appendArray(b, len(*v))
		for _, s := range *v {
			b = appendUint(appendUint(appendArray(b, 2), s.Round), uint64(s.Perturbations))
		}
	case *[]Box:
		b = appendArray(b, len(*v))
		for _, box := range *v {
			b = appendFinite(appendFinite(appendArray(b, 2), box.Low), box.High)
		}
	}
	return b
}

// append appends a segment: the array [name, len, fill, scale, mu scale, step scale].
func (s *Segment) append(b []byte) []byte {
	b = appendString(appendArray(b, 6), s.Name)
	b = appendUint(appendUint(b, s.Len), uint64(s.Fill))
	return appendFinite(appendFinite(appendFinite(b, s.Scale), s.MuScale), s.StepScale)
}

// value reads the value of field f into *at.
func (d *reader) value(f *Field, at any) {
	switch v := at.(type) {
	case *string:
		*v = d.string(f.Name, MaxName)
	case *uint8:
		*v = d.choice(f)
	case *uint32:
		*v = uint32(d.uint(f.Name, math.MaxUint32))
	case *uint64:
		*v = d.uint(f.Name, math.MaxInt64)
	case *float32:
		*v = d.finite(f.Name)
	case *Bytes:
		*v = append(Bytes(nil), d.bin(f.Name, 64)...)
	case *[]string:
		*v = make([]string, d.array(f.Name, MaxMetrics, 1))
		for i := range *v {
			(*v)[i] = d.string(f.Name, MaxName)
		}
	case *[]Segment:
		*v = make([]Segment, d.array(f.Name, MaxSegments, 19))
		for i := range *v {
			(*v)[i] = d.segment()
		}
	case *[]StepPoint:
		*v = make([]StepPoint, d.array(f.Name, MaxPoints, 7))
		for i := range *v {
			d.tuple(f.Name, 2)
			(*v)[i] = StepPoint{d.uint(f.Name, math.MaxInt64), d.finite(f.Name)}
		}
	case *[]PerturbationPoint:
		*v = make([]PerturbationPoint, d.array(f.Name, MaxPoints, 3))
		for i := range *v {
			d.tuple(f.Name, 2)
			round, n := d.uint(f.Name, math.MaxInt64), d.uint(f.Name, math.MaxUint16)
			(*v)[i] = PerturbationPoint{round, uint32(n)}
		}
	case *[]Box:
		*v = make([]Box, d.array(f.Name, MaxSegments, 11))
		for i := range *v {
			d.tuple(f.Name, 2)
			(*v)[i] = Box{d.finite(f.Name), d.finite(f.Name)}
		}
	}
}

// choice reads the number of a choice; an unknown one is ErrUpgrade.
func (d *reader) choice(f *Field) uint8 {
	v := d.uint(f.Name, math.MaxUint8)
	if v >= uint64(len(f.names)) {
		d.fail(f.Name, ErrUpgrade)
	}
	return uint8(v)
}

func (d *reader) segment() Segment {
	d.tuple("segment", 6)
	s := Segment{Name: d.string("segment name", MaxName), Len: d.uint("segment len", MaxDim)}
	s.Fill = Fill(d.known("segment fill", uint64(NormalFill)))
	s.Scale = d.finite("segment scale")
	s.MuScale = d.finite("segment mu scale")
	s.StepScale = d.finite("segment step scale")
	return s
}
