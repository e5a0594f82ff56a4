package crowd

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// A crowd is the devices of a run. The bus's goroutine that delivers announcements owns the crowd,
// except the atomics.
type crowd struct {
	Members
	answer float64
	ids    []string

	asked, sent atomic.Uint64
	selecting   []time.Duration // for each announcement: the time to compute which devices are asked
	answering   chan<- time.Time
}

// newIDs returns the ids of a crowd.
func newIDs(devices int) []string {
	ids := make([]string, devices)
	for i := range ids {
		ids[i] = fmt.Sprintf("dev%d", i)
	}
	return ids
}

// hear answers an announcement for all devices that the announcement asks.
func (c *crowd) hear(m bus.Message) {
	a, tip, isNew := c.Hear(m.Data)
	if !isNew {
		return
	}
	began := time.Now()
	asked := c.selected(a)
	c.selecting = append(c.selecting, time.Since(began))
	c.asked.Add(uint64(len(asked)))
	select {
	case c.answering <- time.Now():
	default:
	}
	for _, i := range asked {
		if c.Rand.Float64() < c.answer && c.Reply(c.ids[i], a, tip, 1) == nil {
			c.sent.Add(1)
		}
	}
}

// selected returns the indices of the devices that an announcement asks.
func (c *crowd) selected(a *wire.Announcement) (asked []int) {
	workers := runtime.GOMAXPROCS(0)
	parts := make([][]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * len(c.ids) / workers; i < (w+1)*len(c.ids)/workers; i++ {
				if a.Cohort.Has(c.Plan.Run, a.N, a.Attempt, 0, c.ids[i]) {
					parts[w] = append(parts[w], i)
				}
			}
		})
	}
	wg.Wait()
	for _, part := range parts {
		asked = append(asked, part...)
	}
	return asked
}
