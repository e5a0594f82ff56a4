package history

import (
	"testing"

	"github.com/zofl/zofl/coordinator/report"
)

// BenchmarkRecord measures the cost of a round for the coordinator's goroutine, with a full history
// in a file, which the keeper sometimes rewrites.
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

// BenchmarkSnapshot measures the cost of reading all points of a full history.
func BenchmarkSnapshot(b *testing.B) {
	h := &History{}
	for n := uint64(2); n < mostPoints; n++ {
		record(b, h, round(n), report.Event{Kind: report.RunResumed, N: n})
	}
	for b.Loop() {
		h.Snapshot(0)
	}
}
