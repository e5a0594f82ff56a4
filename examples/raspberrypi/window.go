package main

import (
	"math"
	"time"
)

// missing stands for a reading that there is not: a sensor failed, or nobody looked.
var missing = float32(math.NaN())

func isMissing(v float32) bool { return v != v }

// A window holds the readings of the last slots, and never more: a slot is a period of
// the clock, and its reading of each channel the mean of those taken in it. It is what
// the device knows, and leaves it for its own disk only.
//
// Slots in between that have no reading are missing ones, so that how far back a slot
// is says how long ago it was.
type window struct {
	period   time.Duration
	channels int
	values   []float32 // [slot mod slots][channel]
	slots    int       // that it can hold
	last     int64     // newest slot
	held     int       // slots up to the newest, none at first
}

func newWindow(period time.Duration, slots, channels int) *window {
	return &window{period: period, channels: channels, values: make([]float32, slots*channels), slots: slots}
}

// slot returns the one that a time is in.
func (w *window) slot(t time.Time) int64 {
	ns, period := t.UnixNano(), int64(w.period)
	s := ns / period
	if ns%period < 0 {
		s--
	}
	return s
}

// time is when a slot begins.
func (w *window) time(slot int64) time.Time { return time.Unix(0, slot*int64(w.period)).UTC() }

// first is the oldest slot that is held.
func (w *window) first() int64 { return w.last - int64(w.held) + 1 }

// at returns the readings of a slot, nil if it is not held.
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

// put adds the readings of a slot. One that is no newer than the newest changes
// nothing, and put returns false: of a file some is read again after a restart.
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

// clear forgets all readings.
func (w *window) clear() { w.held = 0 }

// rewind forgets a slot and those after it.
func (w *window) rewind(slot int64) {
	if w.held == 0 || slot > w.last {
		return
	}
	w.held, w.last = max(0, w.held-int(min(w.last-slot+1, int64(w.slots)))), slot-1
}

// A collector makes the mean of the readings that are taken in a slot. What it has is
// a slot's when a reading comes that is of a later one.
type collector struct {
	slot   int64
	begun  bool
	sums   []float64
	counts []int
}

func newCollector(channels int) *collector {
	return &collector{sums: make([]float64, channels), counts: make([]int, channels)}
}

// take returns the means, and begins another slot.
func (c *collector) take(slot int64) (done int64, means []float32) {
	done, means = c.slot, make([]float32, len(c.sums))
	for i, n := range c.counts {
		means[i] = missing
		if n > 0 {
			means[i] = float32(c.sums[i] / float64(n))
		}
		if math.IsInf(float64(means[i]), 0) { // what a float32 cannot hold would be in each loss
			means[i] = missing
		}
	}
	clear(c.sums)
	clear(c.counts)
	c.slot = slot
	return done, means
}

// add counts readings of a slot. Where that ends another slot it returns its means.
// Readings of an earlier slot are lost.
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
