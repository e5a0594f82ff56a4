package client_test

import (
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// Devices that were present and late joiners replay a rollback, also a rollback within the records
// that another rollback undid.
func TestRollback(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		rounds := func(n int) {
			for range n {
				h.round()
			}
		}
		digest := func() [32]byte { _, digest := d.Digest(); return digest }
		back := func(to uint64) {
			h.append(wire.Record{Kind: wire.KindRollback, To: to})
			h.announce()
			h.take()
		}
		rounds(3)
		h.announce()
		h.take()
		third, want := h.last(), digest()
		rounds(4)
		back(third)
		if n, _ := d.Digest(); n != h.last() || digest() != want {
			t.Fatalf("digest %x after record %d, want %x after %d", digest(), n, want, h.last())
		}
		rounds(2)
		h.announce()
		h.take()
		ninth, want := h.last(), digest()
		rounds(2)
		back(ninth)
		back(h.last()) // a rollback to the last record changes nothing
		if n, _ := d.Digest(); n != h.last() || digest() != want {
			t.Fatalf("digest %x after record %d, want %x after %d", digest(), n, want, h.last())
		}
		h.atOnce = 2
		late := h.device("d1", bowlLoss(small, 1))
		rounds(1)
		h.announce()
		n, got := late.Digest()
		if m, want := d.Digest(); n != m || got != want {
			t.Errorf("the late joiner has digest %x after record %d, the other %x after %d",
				got, n, want, m)
		}
	})
}

// A forged rollback that does not continue the log undoes nothing.
func TestForgedRollback(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		for range 4 {
			h.round()
		}
		h.announce()
		h.take()
		last := h.last()
		for _, to := range []uint64{last, last - 2} {
			forged := (&wire.Record{N: last + 10, Prev: wire.Hash{1}, Epoch: 1,
				Kind: wire.KindRollback, To: to}).Append(nil)
			a := h.announcement()
			a.N, a.Records = last+11, wire.Records{}
			a.Records.Add(forged)
			h.send(a)
			h.agrees(d, last)
		}
		h.silent()
		h.round()
		h.announce()
		h.agrees(d, last+1)
	})
}

// The device completes a rollback later if lost answers or a stop interrupted it: during the
// replay, and during the pass over the undone records.
func TestInterruptedRollback(t *testing.T) {
	for _, lost := range []uint64{1, 2, 4, 5} { // the host's answers get lost from this request on
		bubble(t, func(t *testing.T) {
			h := newHost(t, testPlan(small))
			d := h.device("d0", bowlLoss(small, 0))
			for range 4 {
				h.round()
			}
			h.announce()
			h.take()
			h.atOnce = 1
			h.append(wire.Record{Kind: wire.KindRollback, To: 3})
			h.answers(func(m bus.Message) bool {
				request, err := wire.DecodeCatchUpRequest(m.Data)
				return err != nil || request.From >= lost
			})
			h.announce()
			pass(6 * time.Second)
			h.announce()
			pass(time.Second)
			want := max(1, min(lost-1, 3)) // the device has the plan, and record 4 does not count
			if n, err := d.Params(make([]float32, small)); n != want || err != nil {
				t.Fatalf("Params: record %d, %v, want %d", n, err, want)
			}
			d.stop() // while it asks
			d.run()
			h.answers(nil)
			pass(time.Minute)
			h.announce()
			h.one(wire.Contribution)
			h.agrees(d, h.last())
			if got, want := h.witness(h.last()).Digest(), h.witness(3).Digest(); got != want {
				t.Errorf("digest %x after the rollback, want %x", got, want)
			}
		})
	}
}

// A log has many rollbacks, some of them to records that other rollbacks undid. The log costs a
// late joiner at most three passes. The bound also holds if requests are lost, or if a catch-up
// fails and the next announcement resumes it.
func TestManyRollbacks(t *testing.T) {
	for _, tt := range []struct {
		name string
		lost func(i int) bool // whether request i, from 0, is lost
		more int              // extra requests allowed for every three requests without loss
	}{
		{"all answered", func(int) bool { return false }, 0},
		{"every fifth lost", func(i int) bool { return i%5 == 4 }, 1},
		{"four in a row lost", func(i int) bool { return i%12 >= 8 }, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				there := h.device("d0", bowlLoss(small, 0))
				for i := range uint64(30) {
					for range 3 {
						h.commit()
					}
					h.append(wire.Record{Kind: wire.KindRollback,
						To: h.last() - min(2+i*i%7, h.last()-1)})
					h.announce()
				}
				h.agrees(there, h.last())
				there.stop()

				h.atOnce = 1
				requests, budget := 0, int(h.last())*(3+tt.more)
				h.answers(func(m bus.Message) bool {
					if _, err := wire.DecodeCatchUpRequest(m.Data); err != nil {
						return false
					}
					requests++
					return tt.lost(requests-1) || requests > budget
				})
				late := h.device("d1", bowlLoss(small, 1))
				for range 60 {
					h.announce()
					pass(30 * time.Second)
				}
				h.agrees(late, h.last())
				if requests > budget {
					t.Errorf("%d requests for %d records, want at most %d",
						requests, h.last(), budget)
				}
			})
		})
	}
}

// The log loses the rollback that a device was about to follow, and gets other records. The device
// follows the log.
func TestRollbackIsLost(t *testing.T) {
	for _, longer := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, testPlan(small))
			d := h.device("d0", bowlLoss(small, 0))
			for range 9 {
				h.commit()
			}
			h.announce(h.bring(2))
			h.atOnce = 1
			before := h.last()
			h.append(wire.Record{Kind: wire.KindRollback, To: 3})
			h.answers(func(m bus.Message) bool {
				request, err := wire.DecodeCatchUpRequest(m.Data)
				return err == nil && request.From > 6 // while the device skips the rest
			})
			h.announce()
			pass(time.Minute)
			h.answers(nil)
			h.cut(before-4, 2)
			if longer {
				for range 8 {
					h.commit(3, 4)
				}
			}
			for range 4 {
				h.announce()
				pass(10 * time.Second)
			}
			h.agrees(d, h.last())
		})
	}
}
