package engine

import (
	"math"
	"testing"
)

// TestNeighborsKeepLiarsOut has two of ten devices send scalars far off, in a plan that mixes each
// contribution with its nearest. Each honest contribution becomes the honest mean, which is then
// the record. Only the liars were cut, so that they can be named.
func TestNeighborsKeepLiarsOut(t *testing.T) {
	s := newSiege(t, append(guarded["neighbors"], "bound=1.5")...)
	for r := range 30 {
		all := s.values([]float32{9000, -20_000})
		s.send(all)
		got := s.c.Plan.Precision.Read(s.close().Terms[0].Scalars, 1, len(all[0]))
		for p, v := range got {
			want := 0.0
			for _, values := range all[:besieged-2] {
				want += float64(values[p]) / (besieged - 2)
			}
			if math.Abs(float64(v)-want) > 1e-4 {
				t.Fatalf("round %d: scalar %d is %v, and the honest mean %v", r, p, v, want)
			}
		}
	}
	list, _ := s.c.Devices(1)
	for d := range list {
		if liar := d >= besieged-2; liar != (list[d].Cut > 20) {
			t.Errorf("%d contributions of device %d were cut", list[d].Cut, d)
		}
	}
}
