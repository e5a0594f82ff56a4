package stepsize

import (
	"encoding/binary"
	"math"
)

// Append appends to b what the next coordinator needs to compute the same steps: nothing before the
// first round, otherwise the four averages of the trends and, if losses were seen, the three of the
// progress.
func (l *Law) Append(b []byte) []byte {
	if *l == (Law{}) {
		return b
	}
	b = appendFloats(b, l.trimmed.e, l.trimmed.f, l.whole.e, l.whole.f)
	if l.progress.known {
		b = appendFloats(b, l.progress.first, l.progress.quick, l.progress.slow)
	}
	return b
}

// Read replaces l by what Append wrote. Read returns false, and forgets everything, if Append
// cannot have written b.
func (l *Law) Read(b []byte) bool {
	l.Reset()
	v := make([]float64, len(b)/8)
	for i := range v {
		if v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])); v[i]-v[i] != 0 {
			return false // no number
		}
	}
	switch {
	case len(b) == 0:
		return true
	case len(b) != 4*8 && len(b) != 7*8:
		return false
	}
	l.trimmed, l.whole = trend{v[0], v[1]}, trend{v[2], v[3]}
	if len(v) == 7 {
		l.progress = progress{known: true, first: v[4], quick: v[5], slow: v[6]}
	}
	return true
}

func appendFloats(b []byte, values ...float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}
