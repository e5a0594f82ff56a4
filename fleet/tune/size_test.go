package tune

import (
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/grouping"
)

// TestShare: the directions of a round are P for all devices, for each group, or for each device.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		sharing wire.Sharing
		want    float64
	}{
		{wire.SharedDirections, 4. / (4 + 100)},
		{wire.GroupDirections, 8. / (8 + 100)},
		{wire.PerClient, 40. / (40 + 100)},
	} {
		p := &wire.Plan{Dim: 99, Sharing: c.sharing, Target: 10, OverSample: 1}
		if c.sharing == wire.GroupDirections {
			p.Groups, p.GroupSize, p.Regroup = grouping.Random, 5, 10
		}
		if got := share(p, 4); got != c.want {
			t.Errorf("%v: %v, want %v", c.sharing, got, c.want)
		}
	}
}
