package client_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// bring makes an announcement carry the records from an index on.
func (h *host) bring(from uint64) func(*wire.Announcement) {
	return func(a *wire.Announcement) {
		a.Records = wire.Records{}
		for n := from; n < a.N; n++ {
			a.Records.Add(h.records[n-1])
		}
	}
}

// A device takes missed records from the announcement, or requests them.
func TestMissedRecords(t *testing.T) {
	tests := []struct {
		name   string
		from   uint64   // first record announced
		atOnce int      // records a reply
		asked  []uint64 // requests that the device makes
	}{
		{"all announced", 2, 1, nil},
		{"the last announced", 12, 100, []uint64{2}},
		{"none announced", 13, 100, []uint64{2}},
		{"in several replies", 10, 3, []uint64{2, 5, 8}},
		{"the plan too", 1, 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				h.atOnce = tt.atOnce
				d := h.device("d0", bowlLoss(small, 0))
				for h.last() < 12 {
					h.commit()
				}
				h.announce(h.bring(tt.from))
				h.one(wire.Contribution)
				h.agrees(d, 12)
				if asked := h.asked(); !slices.Equal(asked, tt.asked) {
					t.Errorf("asked from %v, want %v", asked, tt.asked)
				}
			})
		})
	}
}

// A late joiner replays all records, also changes and pauses between rounds. Then the late joiner
// contributes like the other devices.
func TestLateJoiner(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.device("d0", bowlLoss(small, 0))
		for range 5 {
			h.round()
		}
		change := plan.Change{}
		if err := planfile.SetChange(&change, "step", "0.01"); err != nil {
			t.Fatal(err)
		}
		h.append(wire.Record{Kind: wire.KindChange, Change: &change})
		h.atOnce = 2
		late := h.device("d1", bowlLoss(small, 1))
		if p := late.now(); p.Last != h.last() || p.N != 1 {
			t.Errorf("progress %+v, want record 1 of %d", p, h.last())
		}
		if replies := h.round(); len(replies) != 2 {
			t.Errorf("got %s, want two contributions", kinds(replies))
		}
		h.announce()
		h.agrees(late, h.last())
		states := []client.State{}
		for _, p := range late.progress() {
			states = append(states, p.State)
		}
		if !slices.Contains(states, client.CatchingUp) {
			t.Errorf("the recorder saw %v, want catching up among them", states)
		}
	})
}

// A device repeats a failed catch-up: at once after a request without an answer, otherwise at the
// next announcement.
func TestCatchUpFails(t *testing.T) {
	tests := []struct {
		name   string
		answer func(h *host, m bus.Message)
		says   string
	}{
		{"no answer", func(*host, bus.Message) {}, "no answer in 5s"},
		{"garbage", func(h *host, m bus.Message) { h.publish(m.Reply, []byte{0xc1}) },
			"catch-up reply"},
		{"other records", func(h *host, m bus.Message) {
			h.publish(m.Reply, (&wire.CatchUpReply{From: 99}).Append(nil))
		}, "from 99"},
		{"no records", func(h *host, m bus.Message) {
			h.publish(m.Reply, (&wire.CatchUpReply{From: 2, Last: 9}).Append(nil))
		}, "no record from 2"},
		{"garbage records", func(h *host, m bus.Message) {
			r := wire.CatchUpReply{From: 2}
			r.Records.Add([]byte("????"))
			h.publish(m.Reply, r.Append(nil))
		}, "record"},
		{"the same record again", func(h *host, m bus.Message) {
			r := wire.CatchUpReply{From: 2}
			r.Records.Add(h.records[1])
			r.Records.Add(h.records[1])
			h.publish(m.Reply, r.Append(nil))
		}, "out of order"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				d := h.device("d0", bowlLoss(small, 0))
				for h.last() < 5 {
					h.commit()
				}
				h.answers(func(m bus.Message) bool { tt.answer(h, m); return true })
				h.announce()
				pass(5 * time.Second)
				h.silent()
				if p := d.now(); p.State != client.CatchingUp || p.Last < 4 || p.Err == nil ||
					!strings.Contains(p.Err.Error(), tt.says) {
					t.Errorf("progress %+v, want an error that says %q", p, tt.says)
				}
				h.answers(nil)
				h.announce()
				pass(10 * time.Second)
				if replies := h.take(); len(by(replies,
					wire.Contribution)) != 1 { // to each of the two
					t.Errorf("got %s, want a contribution", kinds(replies))
				}
				h.agrees(d, h.last())
			})
		})
	}
}
