package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

// A ControlVariate is a device's earlier estimate of its own gradient, as scalars along the
// directions of a record. With [plan.ScaffoldPoint] these are the P scalars of the round's first
// phase. With [plan.ScaffoldMean] the scalars are all those of the device's last contribution that
// the coordinator counted in a record.
type ControlVariate struct {
	N       uint64 // the record; 0: the device has no control variate
	Scalars Scalars
}

// Append appends the encoding of v to b: the array [n, scalars].
func (v *ControlVariate) Append(b []byte) []byte {
	b = codec.AppendUint(codec.AppendArray(b, 2), v.N)
	return codec.AppendBin(b, v.Scalars)
}

// Control returns the control variate at the beginning of a contribution's Rest, if there is one.
// The control variate aliases Rest. Any other bytes in Rest belong to a later version and are no
// error.
func (r *Reply) Control() (v ControlVariate, ok bool) {
	d := reader{codec.NewReader("control", r.Rest)}
	d.Tuple("control", 2)
	v.N = d.Uint("n", math.MaxInt64)
	d.Positive("n", v.N)
	v.Scalars = d.scalars("scalars", plan.MaxScalars)
	if !d.OK() || v.N >= r.N {
		return ControlVariate{}, false
	}
	return v, true
}
