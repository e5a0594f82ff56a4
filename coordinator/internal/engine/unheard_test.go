package engine

import (
	"math/rand/v2"
	"testing"
)

// TestUnheardAfterRestart: after a restart a round of vectors with a quorum waits to its deadline
// for a member that lives, but only an eighth of the deadline for members that were not heard.
func TestUnheardAfterRestart(t *testing.T) {
	const devices = 3
	p := densePlan(t, devices, "quorum=1", "target=3", "deadline=80000", "reannounce=70000")
	for _, joins := range []bool{false, true} {
		c, log := newDenseCore(t, p)
		list := senders(rand.New(rand.NewPCG(1, 2)), devices, int(p.Dim))
		for _, d := range list {
			storeAll(t, c, log, d.whole(t, c, 10))
		}
		c = restartDense(t, log, p)
		began := c.now
		if joins {
			storeAll(t, c, log, c.Step(began+1, joinOf(list[1].id)))
		}
		n := c.N
		storeAll(t, c, log, list[0].whole(t, c, began+10))
		for c.N == n {
			at, ok := c.Wake()
			if !ok || at > began+uint64(p.Deadline) {
				t.Fatalf("it wakes at %d, %t", at, ok)
			}
			storeAll(t, c, log, c.Step(at, Input{Kind: InTick}))
		}
		took, least := c.now-began, uint64(p.Deadline)/leastPart
		if joins && took != uint64(p.Deadline) || !joins && (took < least || took > 2*least) {
			t.Errorf("a member joins again: %t: the round took %d ms", joins, took)
		}
	}
}
