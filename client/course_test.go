package client_test

import (
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// A log with many rollbacks, some of them to records that were undone, costs a late joiner at
// most three passes. That also holds if requests are lost, and if a catch-up fails and the next
// announcement resumes it.
func TestManyRollbacks(t *testing.T) {
	for _, tt := range []struct {
		name string
		lost func(i int) bool // request i, from 0
		more int              // extra requests allowed for every three without loss
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

// The log loses the rollback that a device was about to follow, and grows differently: the
// device follows the log.
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
				return err == nil && request.From > 6 // while it passes over the rest
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
