package pull

import (
	"math"
	"sync"
	"unsafe"

	"github.com/zofl/zofl/internal/half"
)

// A Type is the form of parameters in the app's memory.
type Type int32

// The types of libzofl.h.
const (
	F32  Type = 0
	F16  Type = 1
	BF16 Type = 2
)

// Width returns the bytes of an element, 0 for an unknown type.
func (t Type) Width() int {
	switch t {
	case F32:
		return 4
	case F16, BF16:
		return 2
	}
	return 0
}

// block is how many parameters are rounded at a time. Reads of whole blocks are the fastest.
const block = 4096

// A destination is an array of the app.
type destination struct {
	form Type
	at   unsafe.Pointer
}

// To returns a destination for n elements of a type, or an error where no such array can be there.
func To(form Type, at unsafe.Pointer, n uint64) (destination, error) {
	width := form.Width()
	switch {
	case width == 0:
		return destination{}, faultf(Value, "type = %d: give ZOFL_F32, ZOFL_F16 or ZOFL_BF16", form)
	case at == nil && n > 0:
		return destination{}, faultf(Value, "dst is NULL: give %d elements", n)
	case uintptr(at)%uintptr(width) != 0:
		return destination{}, faultf(Value, "dst is not aligned to %d bytes", width)
	case n > math.MaxInt/4:
		return destination{}, faultf(Value, "n = %d: no array has so many elements", n)
	}
	return destination{form, at}, nil
}

// floats returns the n elements from element at on, where they are float32.
func (d destination) floats(at, n int) []float32 {
	return unsafe.Slice((*float32)(d.at), at+n)[at:]
}

// put rounds x to the elements from element at on, where they have 16 bits.
func (d destination) put(at int, x []float32) {
	to := unsafe.Slice((*uint16)(d.at), at+len(x))[at:]
	if d.form == F16 {
		for i, v := range x {
			to[i] = half.Of(v)
		}
		return
	}
	for i, v := range x {
		to[i] = bfloat(v)
	}
}

// bfloat rounds to the nearest bfloat16, ties to even.
func bfloat(x float32) uint16 {
	bits := math.Float32bits(x)
	if x != x {
		return uint16(bits>>16) | 0x40 // stays NaN though its low bits go
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

var rooms = sync.Pool{New: func() any { return new([block]float32) }}

// fill writes n parameters from off on that read reads.
func (d destination) fill(off, n int, read func(x []float32, off int) error) error {
	if n == 0 {
		return nil
	}
	if d.form == F32 {
		return read(d.floats(0, n), off)
	}
	room := rooms.Get().(*[block]float32)
	defer rooms.Put(room)
	for at, count := 0, 0; at < n; at += count {
		count = min(n-at, block-(off+at)%block)
		if err := read(room[:count], off+at); err != nil {
			return err
		}
		d.put(at, room[:count])
	}
	return nil
}

// within checks that parameters [off, off+n) exist.
func within(off, n, dim uint64) error {
	if off > dim || n > dim-off {
		return faultf(Value, "off = %d, n = %d: the model has %d parameters", off, n, dim)
	}
	return nil
}

// Point writes parameters [off, off+n) of point i of the step in hand; -1: of the point in hand.
func (d *Device) Point(i int64, form Type, dst unsafe.Pointer, off, n uint64) error {
	t, point, err := d.inHand(i)
	if err != nil {
		return err
	}
	to, err := To(form, dst, n)
	if err != nil {
		return err
	}
	if t.points == nil {
		if err := within(off, n, uint64(t.model.Dim())); err != nil {
			return err
		}
		return to.fill(int(off), int(n), t.model.Read)
	}
	if err := within(off, n, uint64(t.points.Dim())); err != nil {
		return err
	}
	all := make([][]float32, t.points.Len())
	return to.fill(int(off), int(n), func(x []float32, off int) error {
		all[point] = x
		return t.points.Read(all, off)
	})
}

// inHand returns the task in hand, and the number of a point of it.
func (d *Device) inHand(i int64) (*task, int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch t := d.task; {
	case t == nil:
		return nil, 0, errNoTask
	case i < 0:
		return t, t.point, nil
	case t.points == nil && i > 0, t.points != nil && i >= int64(t.count):
		return nil, 0, faultf(Value, "point = %d: the step has %d points", i, t.count)
	default:
		return t, int(i), nil
	}
}

// Points writes parameters [off, off+n) of all points of the step in hand, one point after the
// other, n elements each. Each direction is generated once.
func (d *Device) Points(form Type, dst unsafe.Pointer, off, n uint64) error {
	t, _, err := d.inHand(-1)
	if err != nil {
		return err
	}
	if t.points == nil {
		return d.Point(-1, form, dst, off, n)
	}
	if err := within(off, n, uint64(t.points.Dim())); err != nil {
		return err
	}
	to, err := To(form, dst, n*uint64(t.count)) // n is at most Dim, and count at most 2^16
	if err != nil || n == 0 {
		return err
	}
	all := make([][]float32, t.count)
	if form == F32 {
		for i := range all {
			all[i] = to.floats(i*int(n), int(n))
		}
		return t.points.Read(all, int(off))
	}
	room := make([]float32, t.count*min(int(n), block))
	for at, count := 0, 0; at < int(n); at += count {
		count = min(int(n)-at, block-(int(off)+at)%block)
		for i := range all {
			all[i] = room[i*count:][:count]
		}
		if err := t.points.Read(all, int(off)+at); err != nil {
			return err
		}
		for i, x := range all {
			to.put(i*int(n)+at, x)
		}
	}
	return nil
}

// Model writes parameters [off, off+n) of the model.
func (d *Device) Model(form Type, dst unsafe.Pointer, off, n uint64) error {
	to, err := To(form, dst, n)
	if err != nil {
		return err
	}
	c := d.current()
	if c == nil {
		return errNoModel
	}
	return c.View(func(record uint64, x []float32) error {
		if record == 0 {
			return errNoModel
		}
		if err := within(off, n, uint64(len(x))); err != nil {
			return err
		}
		return to.fill(int(off), int(n), func(to []float32, off int) error {
			copy(to, x[off:])
			return nil
		})
	})
}
