//go:build unix

package jetstream

import (
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/runlog"
)

// BenchmarkAppend appends records one at a time. Each is on its servers' disks when Append
// returns.
func BenchmarkAppend(b *testing.B) {
	everywhere(b, func(b *testing.B, p place) {
		log := p.open(b, "append")
		c := newChain(b, "append")
		c.appendTo(log, 1)
		var took []time.Duration
		for b.Loop() {
			record := c.add(c.next(0.5))
			began := time.Now()
			if err := log.Append(b.Context(), uint64(len(c.records)), record); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
		b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "records/s")
	})
}

// BenchmarkRead reads and verifies a whole log.
func BenchmarkRead(b *testing.B) {
	everywhere(b, func(b *testing.B, p place) {
		const records = 20000
		log := p.open(b, "read")
		memory := &runlog.Memory{}
		newChain(b, "read").appendTo(memory, records)
		if err := runlog.Copy(b.Context(), log, memory, nil); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			got := 0
			if err := log.Read(b.Context(), 1,
				func(uint64, []byte) bool { got++; return true }); err != nil || got != records {
				b.Fatalf("read %d records: %v", got, err)
			}
		}
		b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
}

func everywhere(b *testing.B, f func(b *testing.B, p place)) {
	for name, start := range places {
		b.Run(name, func(b *testing.B) { f(b, start(b)) })
	}
}
