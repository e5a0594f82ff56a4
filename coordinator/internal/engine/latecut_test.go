package engine

import (
	"math"
	"testing"
)

// TestLateIsCutAndClipped: a late contribution is scaled down as if it had come in time: by the
// bound on its length, and by the norm to which the aggregator clips.
func TestLateIsCutAndClipped(t *testing.T) {
	for _, tt := range []struct {
		fields []string
		most   float64
	}{
		// Once (1, 1, 1) in a round of three, times the margin of 6 scalars, 4.5.
		{[]string{"bound=2"}, 4.5 * math.Sqrt(3)},
		{[]string{"aggregator=clipped-mean", "clip=1"}, 1},
	} {
		s := newLateStage(t, tt.fields...)
		s.close(0, 1, 2)
		s.reply(3, 2, 300, 0, 400)
		r := s.close(0, 1, 2)
		got := s.c.Plan.Precision.Values(r.Terms[1].Scalars, 1, 3)
		age, share := math.Sqrt(2), 4.0
		x, z := float64(got[0])*age*share, float64(got[2])*age*share
		if math.Abs(math.Hypot(x, z)-tt.most) > 1e-5 {
			t.Errorf("%v: the late contribution counts as (%v, %v), want a length of %v", tt.fields,
				x, z, tt.most)
		}
	}
}
