package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
)

// An Away follows a decline. An Away says how long the device expects to decline rounds, because
// the app's policy refuses them or the device's loss function fails.
type Away struct {
	Milliseconds uint64
}

// Append appends the encoding of a to b: the array [milliseconds].
func (a *Away) Append(b []byte) []byte {
	return codec.AppendUint(codec.AppendArray(b, 1), a.Milliseconds)
}

// Away returns how long the device stays away, if Rest of a decline begins with an Away. Any other
// bytes in Rest belong to a later version and are no error.
func (r *Reply) Away() (a Away, ok bool) {
	d := reader{codec.NewReader("away", r.Rest)}
	d.Tuple("away", 1)
	a.Milliseconds = d.Uint("milliseconds", math.MaxUint32)
	if !d.OK() {
		return Away{}, false
	}
	return a, true
}
