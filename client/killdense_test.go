package client_test

import (
	"bytes"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
)

// killedVectors returns what the only device of a run with control variates sends, and how often it
// asks for records. It is killed after each round in kills; its last checkpoint is older.
func killedVectors(t *testing.T, kills map[int]bool) (sent [][]byte) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		p.Control = plan.ScaffoldMean
		h, store := newHost(t, p), newStore(t)
		start := func() *device {
			return h.device("d0", bowlLoss(small, 0), with(store),
				func(c *client.Config) { c.CheckpointEvery = 4 })
		}
		d := start()
		for round := 1; round <= 10; round++ {
			for _, v := range h.denseRound() {
				sent = append(sent, v.vector)
			}
			if kills[round] {
				store = d.killed(store)
				d = start()
			}
		}
		for _, p := range d.progress() {
			if p.Err != nil {
				t.Errorf("reported %v", p.Err)
			}
		}
	})
	return sent
}

// TestKilledVariate: a device with transport=dense and control=scaffold-2 sends the vectors of an
// undisturbed device, after whatever round it is killed. Its control variate is in the vector that
// it promised last.
func TestKilledVariate(t *testing.T) {
	want := killedVectors(t, nil)
	for _, kills := range []map[int]bool{{1: true}, {2: true}, {3: true}, {6: true},
		{7: true, 8: true, 9: true}} {
		got := killedVectors(t, kills)
		for i := range want {
			if i >= len(got) || !bytes.Equal(got[i], want[i]) {
				t.Errorf("killed after rounds %v: round %d differs from an undisturbed run", kills, i+1)
				break
			}
		}
	}
}
