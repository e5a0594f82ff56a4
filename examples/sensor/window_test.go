package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// naiveWindow is a window as an unbounded map.
type naiveWindow struct {
	values map[int64]float32
	last   int64
}

func TestWindowHoldsTheLastSlots(t *testing.T) {
	const slots = 16
	random := rand.New(rand.NewPCG(1, 0))
	w, naive := newWindow(time.Minute, slots, 1), naiveWindow{map[int64]float32{}, -1000}
	size := cap(w.values)
	for slot := int64(-20); slot < 2000; slot += random.Int64N(4) {
		if random.IntN(100) == 0 {
			slot += 3 * slots // the agent was off for long
		}
		v := random.Float32()
		if fresh := slot > naive.last; w.put(slot, []float32{v}) != fresh {
			t.Fatalf("slot %d after %d: put returns %v", slot, naive.last, !fresh)
		} else if fresh {
			naive.values[slot], naive.last = v, slot
		}
		for s := naive.last - slots - 2; s <= naive.last+2; s++ {
			got, want := w.at(s), naive.values[s]
			_, known := naive.values[s]
			inside := s > naive.last-slots && s <= naive.last
			if known && inside && (got == nil || got[0] != want) || !inside && got != nil ||
				!known && got != nil && !isMissing(got[0]) {
				t.Fatalf("slot %d of %d: %v, want %v (%v)", s, naive.last, got, want, known)
			}
		}
	}
	if cap(w.values) != size || w.held > slots {
		t.Errorf("the window grew to %d values, %d slots", cap(w.values), w.held)
	}
}

func TestSlotsOfTimesBefore1970(t *testing.T) {
	w := newWindow(time.Minute, 4, 1)
	for _, c := range []struct {
		ns   int64
		want int64
	}{{0, 0}, {59e9, 0}, {60e9, 1}, {-1, -1}, {-60e9, -1}, {-60e9 - 1, -2}} {
		if got := w.slot(time.Unix(0, c.ns)); got != c.want {
			t.Errorf("%d ns are in slot %d, want %d", c.ns, got, c.want)
		}
	}
}

func TestCollectorMeans(t *testing.T) {
	nan := math.NaN()
	c := newCollector(2)
	for _, step := range []struct {
		slot   int64
		values []float64
		done   int64
		means  []float32
	}{
		{5, []float64{1, nan}, 0, nil},
		{5, []float64{3, math.Inf(1)}, 0, nil},
		{7, []float64{10, 20}, 5, []float32{2, missing}},
		{6, []float64{99, 99}, 0, nil}, // late: dropped
		{8, []float64{0, 0}, 7, []float32{10, 20}},
	} {
		done, means := c.add(step.slot, step.values)
		if done != step.done || (means == nil) != (step.means == nil) {
			t.Fatalf("slot %d: got %d %v, want %d %v", step.slot, done, means, step.done, step.means)
		}
		for i := range means {
			if means[i] != step.means[i] && !(isMissing(means[i]) && isMissing(step.means[i])) {
				t.Errorf("slot %d: means %v, want %v", step.slot, means, step.means)
			}
		}
	}
}

func TestWindowRewinds(t *testing.T) {
	for _, c := range []struct{ slot, last, held int64 }{{110, 107, 8}, {108, 107, 8},
		{107, 106, 7}, {103, 102, 3}, {100, 99, 0}, {-5, -6, 0}} {
		w := newWindow(time.Minute, 8, 1)
		for slot := int64(95); slot < 108; slot++ {
			w.put(slot, []float32{float32(slot)})
		}
		w.rewind(c.slot)
		if w.last != c.last || int64(w.held) != c.held {
			t.Errorf("before slot %d: %d slots up to %d, want %d up to %d",
				c.slot, w.held, w.last, c.held, c.last)
		}
		if w.held > 0 && (w.at(w.first())[0] != 100 || w.at(c.slot) != nil) {
			t.Errorf("before slot %d: begins with %v", c.slot, w.at(w.first()))
		}
	}
}
