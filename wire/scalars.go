package wire

import (
	"encoding/binary"
	"math"
)

// Scalars are encoded scalars. The plan's [plan.Precision] says how scalars are encoded. Len and At
// read only [plan.Single] precision: consecutive float32 numbers, little-endian. The methods of
// Precision read every precision.
type Scalars []byte

// Len returns the number of scalars.
func (s Scalars) Len() int { return len(s) / 4 }

// At returns scalar i.
func (s Scalars) At(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(s[4*i:]))
}

// AppendScalars appends v to dst in [plan.Single] precision.
func AppendScalars(dst Scalars, v ...float32) Scalars {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}
