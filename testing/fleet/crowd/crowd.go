package crowd

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// A crowd is the devices of a run. The bus's goroutine that delivers announcements owns it,
// except the atomics.
type crowd struct {
	bus    *bus.Memory
	plan   *plan.Plan
	answer float64
	ids    []string

	n       uint64 // of the last announcement
	attempt uint32
	rng     *rand.Rand
	frame   []byte
	values  wire.Scalars
	block   []float32

	asked, sent atomic.Uint64
	selecting   []time.Duration // for each announcement: to compute who is asked
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

// join lets every device ask for its place, many at a time.
func (c *crowd) join(ask func(id string) error) error {
	const atOnce = 64
	var next atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan error, atOnce)
	for range atOnce {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(c.ids); i = next.Add(1) - 1 {
				if err := ask(c.ids[i]); err != nil {
					failed <- fmt.Errorf("%s: %w", c.ids[i], err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

// hear answers an announcement for all devices that it asks. It ignores a repetition: every
// device that answers has done so already.
func (c *crowd) hear(m bus.Message) {
	a, err := compact.Decode(m.Data)
	if err != nil || a.State != wire.Open || a.N == c.n && a.Attempt == c.attempt {
		return
	}
	c.n, c.attempt = a.N, a.Attempt
	var last []byte
	a.Records.Each(func(record []byte) bool { last = record; return true })
	began := time.Now()
	asked := c.selected(&a.Announcement)
	c.selecting = append(c.selecting, time.Since(began))
	c.asked.Add(uint64(len(asked)))
	select {
	case c.answering <- time.Now():
	default:
	}
	tip := a.Tip
	if !a.Compact() {
		tip = wire.HashRecord(last).Tip()
	}
	for _, i := range asked {
		if c.rng.Float64() < c.answer {
			c.reply(c.ids[i], &a.Announcement, tip)
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
				if a.Cohort.Has(c.plan.Run, a.N, a.Attempt, 0, c.ids[i]) {
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

// reply sends a device's contribution.
func (c *crowd) reply(id string, a *wire.Announcement, tip wire.Tip) {
	c.values = c.values[:0]
	for range c.plan.Steps {
		c.block = c.block[:0]
		for range a.Perturbations {
			c.block = append(c.block, float32(c.rng.NormFloat64()))
		}
		c.values = c.plan.Precision.Append(c.values, c.block...)
	}
	r := wire.Reply{Kind: wire.Contribution, N: a.N, Tip: tip, Weight: 1, Loss: 1,
		Values: c.values}
	c.frame = r.Append(c.frame[:0])
	subject := subjects.Reply(c.plan.Run, subjects.Shard(id, c.plan.Shards), id)
	if c.bus.Publish(subject, c.frame) == nil {
		c.sent.Add(1)
	}
}
