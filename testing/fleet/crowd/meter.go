package crowd

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/zofl/zofl/coordinator/report"
)

// A meter receives the coordinator's events. Until ended is closed, the coordinator's goroutine
// owns the meter.
type meter struct {
	marks     []uint64
	answering chan time.Time // when the crowd began to answer
	rounds    []time.Duration
	heaps     []Heap
	ended     chan struct{}
}

// Record implements [report.Recorder].
func (m *meter) Record(e report.Event) error {
	switch e.Kind {
	case report.RoundDone:
		select {
		case began := <-m.answering:
			m.rounds = append(m.rounds, time.Since(began))
		default: // the round had another attempt
		}
		if slices.Contains(m.marks, e.Round) {
			m.heaps = append(m.heaps, Heap{e.Round, liveHeap()})
		}
	case report.RunEnded:
		close(m.ended)
	}
	return nil
}

// liveHeap returns the bytes of the objects that survive a garbage collection.
func liveHeap() uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
