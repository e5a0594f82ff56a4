package wire

import "math"

// A ControlVariate is what a device took for its own slope when it looked
// before: scalars along the directions of a record. With [ScaffoldPoint] these
// are the P scalars of the round's first phase, with [ScaffoldMean] all of the
// device's last contribution that a record counted.
type ControlVariate struct {
	N       uint64 // the record; 0: the device has none
	Scalars Scalars
}

// Append appends the encoding of v to b: the array [n, scalars].
func (v *ControlVariate) Append(b []byte) []byte {
	b = appendUint(appendArray(b, 2), v.N)
	return appendBin(b, v.Scalars)
}

// Control returns the control variate that follows the array of a contribution,
// if one does; Rest of a reply that brings one begins with its encoding. It
// aliases Rest. What else follows, or stands in its place, is of later versions
// and no fault.
func (r *Reply) Control() (v ControlVariate, ok bool) {
	d := reader{frame: "control", b: r.Rest}
	d.tuple("control", 2)
	v.N = d.uint("n", math.MaxInt64)
	d.positive("n", v.N)
	v.Scalars = d.scalars("scalars", MaxScalars)
	if d.err != nil || v.N >= r.N {
		return ControlVariate{}, false
	}
	return v, true
}
