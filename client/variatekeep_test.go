package client_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
)

// The variates are stored before the next reply, and only if they changed.
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

// A variates file that is not this device's is set aside and reported. The device uses its last
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
		h.announce(nobody) // so that the last reply is the variate
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
