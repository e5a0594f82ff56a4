package garbage

import (
	"testing"

	"github.com/zofl/zofl/plan/cost"
)

// Garbage is collected at GarbageBytes, or earlier where the process holds less.
func TestPercent(t *testing.T) {
	for bytes, want := range map[uint64]int{0: 100, 1000: 100, cost.GarbageBytes: 100,
		2 * cost.GarbageBytes: 50, 538_060_032: 1, 1 << 40: 1} {
		if got := percent(bytes); got != want {
			t.Errorf("%d bytes: %d %%, want %d", bytes, got, want)
		}
	}
}
