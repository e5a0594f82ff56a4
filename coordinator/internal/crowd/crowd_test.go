package crowd

import (
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
)

// The list of the absent and the number of the present follow every change of a presence, in any
// order.
func TestCrowdKeepsCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var w Crowd
	w.Grow(40, true)
	for now := uint64(1); now < 5000; now++ {
		slot := rng.Uint32N(40)
		p := &w.Members[slot]
		switch rng.IntN(6) {
		case 0:
			p.Left = !p.Left
		case 1:
			p.Misses = uint8(rng.IntN(SilentAfter + 1))
		case 2:
			p.Until = now + rng.Uint64N(50)
		case 3:
			p.Until = 0
		case 4:
			w.Pardon(now)
		}
		w.Place(slot, now)
		w.Sweep(now)
		absent := 0
		for i := range w.Members {
			p := &w.Members[i]
			away := p.State(now) != report.DevicePresent
			if away {
				absent++
			}
			if away != p.Absent() || away && w.absent[p.at-1] != uint32(i) {
				t.Fatalf("at %d: slot %d is %v, place %d of %v", now, i, p.State(now), p.at,
					w.absent)
			}
		}
		if w.Present() != uint32(40-absent) {
			t.Fatalf("at %d: %d present, want %d", now, w.Present(), 40-absent)
		}
	}
}
