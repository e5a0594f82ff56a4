package history

import (
	"testing"

	"github.com/zofl/zofl/coordinator/report"
)

// BenchmarkRecord is what a round costs the coordinator's goroutine, with a history in a file that
// is full and written anew now and then.
func BenchmarkRecord(b *testing.B) {
	h := &History{}
	defer h.Lead(b.Context(), newRun(b), Dir(b.TempDir()), logger(b))()
	n := uint64(1)
	for b.Loop() {
		n++
		if err := h.Record(round(n)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSnapshot is what a reader pays for all points of a full history.
func BenchmarkSnapshot(b *testing.B) {
	h := &History{}
	for n := uint64(2); n < mostPoints; n++ {
		record(b, h, round(n), report.Event{Kind: report.RunResumed, N: n})
	}
	for b.Loop() {
		h.Snapshot(0)
	}
}
