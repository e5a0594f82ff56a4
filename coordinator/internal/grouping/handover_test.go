package grouping

import (
	"math"
	"testing"
)

// Append and Read keep all bits of what a chooser knows, and Read takes nothing else.
func TestHandover(t *testing.T) {
	all := []contrast{{}, {rounds: 2, common: 1.0 / 3},
		{chosen: true, own: true, apart: 4000, rounds: 7, common: -0.1}}
	for _, want := range all {
		from, to := newChooser(1), newChooser(1)
		from.contrast = want
		if !to.Read(from.Append(nil)) || to.contrast != want {
			t.Errorf("%+v became %+v", want, to.contrast)
		}
	}
	c := newChooser(1)
	c.contrast = all[2]
	whole := c.Append(nil)
	for size := range whole {
		if ok := c.Read(whole[:size]); ok != (size == 0) || c.contrast != (contrast{}) {
			t.Errorf("%x became %+v", whole[:size], c.contrast)
		}
	}
	c.contrast.common = math.NaN()
	for _, b := range [][]byte{append(whole, 0), c.Append(nil),
		append([]byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, whole[3:]...)} {
		if c.Read(b) {
			t.Errorf("%x became %+v", b, c.contrast)
		}
	}
}
