package client_test

import (
	"slices"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// A late announcement carries a rollback that the log lost with its tail. The log has another
// record in its place by the time the device replays for the rollback. The device does not
// alternate between the two records, and follows the log.
func TestRollbackOfALostTail(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		for range 3 {
			h.commit()
		}
		kept := h.last()
		before := h.records[kept-1]
		back := h.append(wire.Record{Kind: wire.KindRollback, To: kept - 1})
		late := h.announcement()
		late.Records = wire.Records{}
		late.Records.Add(before)
		late.Records.Add(back)
		h.records = h.records[:kept]
		for range 2 {
			h.commit()
		}
		found := slices.Clone(h.records)
		h.records = h.records[:kept]
		asked := 0
		h.answers(func(bus.Message) bool {
			if asked++; asked == 2 {
				h.records = found
			}
			return asked > 100
		})
		h.send(late)
		if asked < 2 || asked > 10 {
			t.Fatalf("the device asked for records %d times", asked)
		}
		h.announce()
		h.take()
		n, digest := d.Digest()
		if want := h.witness(h.last()); n != h.last() || digest != want.Digest() {
			t.Errorf("digest %x after record %d, want %x after %d",
				digest, n, want.Digest(), h.last())
		}
	})
}

// A late announcement follows a record that the log lost with its tail. The device does not
// contribute to the announced round from the state of another record.
func TestRoundOfALostTail(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.device("d0", bowlLoss(small, 0))
		h.commit()
		h.commit(1)
		late := h.announcement()
		late.StepSize *= 2
		h.records = h.records[:h.last()-1]
		h.commit(2)
		h.send(late)
		h.silent()
		h.announce()
		h.one(wire.Contribution)
	})
}
