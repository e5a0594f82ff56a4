package client_test

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
)

// A device stores the results of earlier rounds with each checkpoint, and not only when Run ends.
// So a device that was killed goes on with these results, and reports nothing lost. A device whose
// file is gone reports that once.
func TestFindingsAreKept(t *testing.T) {
	for _, lost := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			p := densePlan(small)
			p.Control = plan.ScaffoldMean
			h, store := newHost(t, p), newStore(t)
			d := h.device("d0", bowlLoss(small, 0), with(store),
				func(c *client.Config) { c.CheckpointEvery = 4 })
			for range 9 {
				h.denseRound()
			}
			store = d.killed(store)
			if len(store.get("control")) == 0 {
				t.Fatal("no control variate is stored before Run ends")
			}
			if lost {
				store.put("control", []byte("torn"))
				store.put("upload", []byte("torn")) // this vector also contains the control variate
			}
			again := h.device("d0", bowlLoss(small, 0), with(store))
			h.announce()
			for range 2 {
				h.denseRound()
			}
			reported := 0
			for _, p := range again.progress() {
				if p.Err != nil && strings.Contains(p.Err.Error(), "contributing without a correction") {
					reported++
				}
			}
			if want := map[bool]int{true: 1}[lost]; reported != want {
				t.Errorf("file torn: %v: reported %d times that the control variate is lost, want %d",
					lost, reported, want)
			}
			if lost != store.isAside("control") {
				t.Errorf("file torn: %v: set aside: %v", lost, !lost)
			}
		})
	}
}
