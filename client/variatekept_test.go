package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
)

// The device stores the variates before the next reply, and only if they changed.
func TestVariatesAreKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := corrected(t, plan.ScaffoldMean), newStore(t)
		d := h.member(0, with(store))
		r, _ := h.asks(d)
		h.includes(r)
		h.asks(d)
		h.commit()
		h.asks(d)
		if saved := store.took(); !slices.Equal(saved, []string{"reply", "variates", "reply",
			"reply"}) {
			t.Errorf("saved %v, want none", saved)
		}
		full := errors.New("no space left on device")
		store.fails(full, "variates")
		for range 2 {
			r, _ = h.asks(d)
			h.includes(r)
		}
		h.asks(d)
		reported := 0
		for _, p := range d.progress() {
			if errors.Is(p.Err, full) {
				reported++
			}
		}
		if reported != 1 {
			t.Errorf("reported %d times that the store is full, want once", reported)
		}
	})
}

// The device sets aside and reports a variates file that is not its own. The device uses its last
// reply instead.
func TestUnusableVariates(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := corrected(t, plan.ScaffoldMean), newStore(t)
		d := h.member(0, with(store))
		var last reply
		for range 3 {
			last, _ = h.asks(d)
			h.includes(last)
		}
		h.announce(nobody) // so that the last reply becomes the variate
		d.stop()
		file, lastReply := store.get("variates"), store.get("reply")
		damage := map[string][]byte{
			"empty": nil, "torn": file[:len(file)-1], "longer": append(slices.Clone(file), 0),
			"huge": append(slices.Clone(file), make([]byte, 2<<20)...),
		}
		for i := range file {
			b := slices.Clone(file)
			b[i] ^= 4
			damage[fmt.Sprint("byte ", i)] = b
		}
		for name, b := range damage {
			store.put("variates", b)
			store.put("reply", lastReply)
			delete(store.aside, "variates")
			d := h.member(0, with(store))
			if !store.isAside("variates") {
				t.Errorf("%s: not set aside", name)
			}
			_, v := h.asks(d)
			sameVariate(t, name, v, last)
			d.stop()
		}
	})
}

// killedVectors returns what the only device of a run with control variates sends, and how often
// the device asks for records. The test kills the device after each round in kills; the device's
// last checkpoint is older.
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

// TestKilledVariate: a device with transport=dense and control=scaffold-2 sends the same vectors as
// an undisturbed device, whatever round it is killed after. The vector that the device promised
// last contains its control variate.
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
