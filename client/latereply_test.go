package client_test

import (
	"testing"
	"time"

	"github.com/zofl/zofl/wire"
)

// A device goes on working when later records are announced, as long as its contribution counts:
// for Plan.Late records of the same coordinator. The device sends the same reply as if it were on
// time, and then follows the log to the head.
func TestLateReply(t *testing.T) {
	for _, test := range []struct {
		name    string
		records int // records announced while the device works
		edit    func(*wire.Announcement)
		counts  bool
	}{
		{"in time", 0, nil, true},
		{"one late", 1, nil, true},
		{"two late", 2, nil, true},
		{"too late", 3, nil, false},
		{"another coordinator", 1, func(a *wire.Announcement) { a.Epoch++ }, false},
		{"a deposed coordinator", 1, func(a *wire.Announcement) { a.Epoch-- }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := testPlan(small)
				p.Late = 2
				h, o := newHost(t, p), newMoody(t)
				query := 5 * time.Second // 15 s a round
				o.mood = slow(&query)
				d := h.device("d0", o)
				h.announce(func(a *wire.Announcement) { a.Epoch, a.Left = 5, 1000 })
				n, tip := h.last()+1, h.tip().Tip()
				pass(2 * time.Second)
				for range test.records {
					h.commit()
					h.announce(func(a *wire.Announcement) {
						a.Epoch = 5
						if test.edit != nil {
							test.edit(a)
						}
					})
				}
				query = time.Second
				pass(3*time.Second - 1)
				if test.counts {
					h.silent()
				}
				pass(1 + 2*time.Second)
				if test.counts {
					if r := h.one(wire.Contribution); r.N != n || r.Tip != tip {
						t.Errorf("replied to record %d after %x, want %d, %x", r.N, r.Tip, n, tip)
					}
				}
				pass(3 * time.Second)
				if test.name == "a deposed coordinator" {
					return // no record follows the reply
				}
				if test.records > 0 {
					if r := h.one(wire.Contribution); r.N != h.last()+1 {
						t.Errorf("replied to record %d, want %d", r.N, h.last()+1)
					}
				}
				h.agrees(d, h.last())
			})
		})
	}
}

// If a device's loss hangs, the device gives up the round once its contribution can no longer
// count.
func TestLateDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Late, p.Deadline = 3, 10_000
		h, o := newHost(t, p), newMoody(t)
		query := time.Hour
		o.mood = slow(&query)
		d := h.device("d0", o)
		h.announce(func(a *wire.Announcement) { a.Left = 10_000 })
		pass(40*time.Second - 1)
		h.silent()
		pass(1)
		h.declines(wire.DeclineTime)
		d.stop()
	})
}
