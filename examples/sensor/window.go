package main

import (
	"math"
	"time"
)

// missing marks a reading that does not exist: a sensor failed, or the agent was not
// running.
var missing = float32(math.NaN())

func isMissing(v float32) bool { return v != v }

// A window holds the readings of the last slots, up to a fixed number. A slot is a period of the
// clock. A slot's reading of a channel is the mean of the readings that the agent took in the
// slot. The window is the data of the device, and never leaves the device.
//
// Slots without readings in between are stored as missing, so that the distance between two
// slots is also their distance in time.
type window struct {
	period   time.Duration
	channels int
	values   []float32 // [slot mod slots][channel]
	slots    int       // capacity
	last     int64     // newest slot
	held     int       // slots held up to the newest; 0 at first
}

func newWindow(period time.Duration, slots, channels int) *window {
	return &window{period: period, channels: channels,
		values: make([]float32, slots*channels), slots: slots}
}

// slot returns the slot of a time.
func (w *window) slot(t time.Time) int64 {
	ns, period := t.UnixNano(), int64(w.period)
	s := ns / period
	if ns%period < 0 {
		s--
	}
	return s
}

// time returns when a slot begins.
func (w *window) time(slot int64) time.Time { return time.Unix(0, slot*int64(w.period)).UTC() }

// first returns the oldest slot held.
func (w *window) first() int64 { return w.last - int64(w.held) + 1 }

// at returns the readings of a slot, or nil if the window does not hold the slot.
func (w *window) at(slot int64) []float32 {
	if w.held == 0 || slot > w.last || slot < w.first() {
		return nil
	}
	return w.cells(slot)
}

func (w *window) cells(slot int64) []float32 {
	i := int(slot % int64(w.slots))
	if i < 0 {
		i += w.slots
	}
	return w.values[i*w.channels : (i+1)*w.channels]
}

// put adds the readings of a slot. If the slot is not newer than the newest, put changes nothing
// and returns false: after a restart the agent reads a part of a file again.
func (w *window) put(slot int64, values []float32) bool {
	if w.held > 0 && slot <= w.last {
		return false
	}
	if w.held == 0 || slot-w.last > int64(w.slots) {
		w.held, w.last = 0, slot-1
	}
	for w.last < slot {
		w.last++
		w.held = min(w.held+1, w.slots)
		empty := w.cells(w.last)
		for c := range empty {
			empty[c] = missing
		}
	}
	copy(w.cells(slot), values)
	return true
}

// clear drops all readings.
func (w *window) clear() { w.held = 0 }

// rewind drops a slot and all later slots.
func (w *window) rewind(slot int64) {
	if w.held == 0 || slot > w.last {
		return
	}
	w.held, w.last = max(0, w.held-int(min(w.last-slot+1, int64(w.slots)))), slot-1
}

// A collector averages the readings of a slot. A slot is complete when a reading of a later
// slot arrives.
type collector struct {
	slot   int64
	begun  bool
	sums   []float64
	counts []int
}

func newCollector(channels int) *collector {
	return &collector{sums: make([]float64, channels), counts: make([]int, channels)}
}

// take returns the means and begins another slot.
func (c *collector) take(slot int64) (done int64, means []float32) {
	done, means = c.slot, make([]float32, len(c.sums))
	for i, n := range c.counts {
		means[i] = missing
		if n > 0 {
			means[i] = float32(c.sums[i] / float64(n))
		}
		if math.IsInf(float64(means[i]), 0) { // an infinite input would spoil every loss
			means[i] = missing
		}
	}
	clear(c.sums)
	clear(c.counts)
	c.slot = slot
	return done, means
}

// add adds readings to a slot. If these readings complete an earlier slot, add returns the means
// of that slot. add drops readings of a slot before the current slot.
func (c *collector) add(slot int64, values []float64) (done int64, means []float32) {
	if !c.begun {
		c.slot, c.begun = slot, true
	}
	if slot < c.slot {
		return 0, nil
	}
	if slot > c.slot {
		done, means = c.take(slot)
	}
	for i, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			c.sums[i] += v
			c.counts[i]++
		}
	}
	return done, means
}
