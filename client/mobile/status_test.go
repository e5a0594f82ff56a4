package mobile

import (
	"runtime"
	"testing"

	"github.com/zofl/zofl/client"
)

// The client runs the garbage collector after every collectEvery contributions, and at no other
// time.
func TestCollects(t *testing.T) {
	forced := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	var c Client
	before := forced()
	for n := 1; n <= 3*collectEvery; n++ {
		for _, contributed := range []bool{false, true} {
			if err := c.record(client.Progress{State: client.Waiting,
				Contributed: contributed}); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := forced()-before, uint32(n/collectEvery); got != want {
			t.Fatalf("%d collections after %d contributions, want %d", got, n, want)
		}
	}
}
