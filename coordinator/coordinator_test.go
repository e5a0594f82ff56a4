package coordinator

import (
	"testing"
	"testing/synctest"

	"github.com/zofl/zofl/wire"
)

func TestRunToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := testPlan(t)
		plan.Rounds = 20
		log := &MemoryLog{}
		r := run(t, Config{Plan: plan, Log: log})
		synctest.Wait()
		devices := make([]*device, 2)
		for i, id := range ids(2) {
			devices[i] = newDevice(t, r.bus, id, contribute)
		}
		if err := <-r.done; err != nil {
			t.Fatal(err)
		}
		if got, want := log.Last(), uint64(22); got != want {
			t.Errorf("the log has %d records, want %d", got, want)
		}
		if got := r.count(RoundDone); got != 20 {
			t.Errorf("%d rounds were recorded, want 20", got)
		}
		s := r.Status()
		if s.State != Ended || s.End.Reason != wire.EndRounds || s.Counters.Dropped() != s.Counters.Duplicate+s.Counters.Late {
			t.Errorf("status %+v", s)
		}
		for _, d := range devices {
			if a := d.last(); a.State != wire.Ended || a.N != 23 {
				t.Errorf("%s last saw %v of record %d, want ended of 23", d.id, a.State, a.N)
			}
		}
	})
}
