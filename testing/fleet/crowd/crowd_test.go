package crowd

import (
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// TestMemoryStaysFlat: neither devices nor rounds cost the coordinator memory, and no reply of
// 1,000 at once is lost.
func TestMemoryStaysFlat(t *testing.T) {
	cfg := Config{Devices: 50_000, Target: 1000, Rounds: 100, Answer: 0.8, Dir: t.TempDir()}
	if testing.Short() {
		cfg.Devices, cfg.Target, cfg.Rounds = 10_000, 200, 30
	}
	cfg.Marks = []uint64{10, cfg.Rounds}
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r)
	if r.Lost != 0 || r.Counters.Unsampled+r.Counters.Malformed+r.Counters.Overflow > 0 {
		t.Errorf("%d of %d replies were lost; counters %+v", r.Lost, r.Sent, r.Counters)
	}
	if r.Counters.Joins < uint64(r.Devices) {
		t.Errorf("%d joins, want one of each of the %d devices", r.Counters.Joins, r.Devices)
	}
	if len(r.Heap) != 2 || r.Heap[1].Bytes > r.Heap[0].Bytes+1<<20 {
		t.Errorf("heap %v, want 1 MiB more after the last round at most", r.Heap)
	}
	if after := r.Heap[len(r.Heap)-1].Bytes; after > r.Before+8<<20 {
		t.Errorf("the run takes %d bytes of heap, the ids %d: want 8 MiB more at most", after,
			r.Before)
	}
}

// TestSelected: the workers together see every device once.
func TestSelected(t *testing.T) {
	b := bus.NewMemory()
	defer b.Close()
	c := &crowd{Members: Members{Bus: b, Plan: &plan.Plan{Run: "crowd"}}, ids: newIDs(1001)}
	a := &wire.Announcement{N: 7, Cohort: wire.Cohort{Sampled: wire.FullThreshold / 3}}
	var want []int
	for i, id := range c.ids {
		if a.Cohort.Has("crowd", 7, 0, 0, id) {
			want = append(want, i)
		}
	}
	got := c.selected(a)
	if len(got) != len(want) {
		t.Fatalf("%d devices are asked, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("device %d is asked, want %d", got[i], want[i])
		}
	}
}
