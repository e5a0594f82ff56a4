package follow

import (
	"testing"
	"time"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// The device chooses between replay and snapshot, here with realistic values for phones and models.
func TestPays(t *testing.T) {
	const never = 1 << 62
	mib := 1 << 20
	tests := []struct {
		name    string
		dim     uint64
		apply   time.Duration // of a million elements
		rate    int           // bytes a second
		missing uint64
		want    bool
	}{
		{"a model of 1.2 million, a day behind", 1_206_590, time.Millisecond, mib, 1000, false},
		{"the same, weeks behind", 1_206_590, time.Millisecond, mib, 20_000, true},
		{"the same, on a slow radio", 1_206_590, time.Millisecond, 10_000, 20_000, false},
		{"the same, a slow processor", 1_206_590, 20 * time.Millisecond, 10_000, 20_000, true},
		{"the same, one record behind", 1_206_590, 20 * time.Millisecond, mib, 1, false},
		{"a small model far behind", 1000, time.Millisecond, mib, 100_000, true},
		{"a small model a little behind", 1000, time.Millisecond, mib, 1000, false},
		{"nothing measured but the network", 1_206_590, 0, mib, 20_000, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := &plan.Plan{Dim: tt.dim}
			round := &wire.Round{Terms: []wire.Term{{Scalars: make(wire.Scalars, 4*10)}}}
			var p pace
			p.fetched(time.Duration(float64(time.Second)*wire.MaxFrame/float64(tt.rate)),
				wire.MaxFrame)
			p.fetched(time.Hour, 100) // says nothing of the pace
			if tt.apply > 0 {
				work := elements(plan, round)
				p.apply(time.Duration(float64(tt.apply)*work/1e6), 1, work)
			}
			bytes := 4*tt.dim + snapshotHead
			got := better(p.snapshot(bytes, 0, 83), p.replay(tt.missing, 83))
			if got != tt.want {
				t.Errorf("snapshot %v s, replay %v s: %v, want %v",
					p.snapshot(bytes, 0, 83), p.replay(tt.missing, 83), got, tt.want)
			}
			if better(p.snapshot(never, 0, 83), p.replay(tt.missing, 83)) {
				t.Error("a snapshot without end is better")
			}
		})
	}
}
