package client_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// A device ignores old announcements and announcements of a deposed coordinator, and makes no
// requests because of them.
func TestOldAnnouncements(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.epoch = 3
		h.round()
		old := h.announcement()
		h.round()
		h.round()
		for range 2 {
			h.send(old)
			h.silent()
			h.announce(func(a *wire.Announcement) { a.Epoch = 2 })
			h.silent()
			h.round() // a current announcement resets the count
		}
		h.announce()
		h.agrees(d, h.last())
		if asked := h.asked(); len(asked) > 0 {
			t.Errorf("asked for records %v", asked)
		}
		h.take()

		// The device ignores any number of such announcements, as long as the log holds the device's last
		// record.
		for range 10 {
			h.send(old)
		}
		h.silent()
		h.agrees(d, h.last())
	})
}

// A device follows an announcement of a lower epoch in the end, if no other announcements come and
// the log holds the device's last record: a forged announcement may have named a high epoch.
func TestForgedEpoch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.announce(func(a *wire.Announcement) { a.Epoch = 1 << 62 })
		h.commit(mean(h.take())...)
		for range 2 {
			h.announce()
			h.silent()
		}
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
	})
}

// cut makes the log lose its tail, and restarts the coordinator.
func (h *host) cut(last uint64, epoch uint64) {
	h.mu.Lock()
	h.records, h.epoch, h.paused, h.waived = h.records[:last], epoch, false, false
	h.mu.Unlock()
	h.rounds = h.witness(last).Rounds()
}

// setBack makes the log lose its tail, waits until devices notice that, and accepts the loss.
func (h *host) setBack(last uint64, epoch uint64) {
	h.t.Helper()
	h.cut(last, epoch)
	for range 3 {
		h.announce()
		h.silent()
	}
	h.accept()
}

// rollback commits a rollback to an earlier record.
func (h *host) rollback(to uint64) {
	h.append(wire.Record{Kind: wire.KindRollback, To: to})
	h.rounds = h.witness(h.last()).Rounds()
}

// After the log lost its tail, the run pauses, and devices keep what they have. Once the operator
// accepted the loss, every device follows the rest of the log: under a new epoch, under an epoch
// that devices saw before, and under an earlier epoch.
func TestLogLosesItsTail(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lost  uint64
		epoch uint64
		again int // announcements before a device is sure
	}{
		{"higher epoch", 2, 4, 1},
		{"same epoch", 2, 3, 3},
		{"lower epoch", 2, 2, 3},
		{"all but the plan", 7, 3, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				h.epoch = 3
				d0, d1 := h.device("d0", bowlLoss(small, 0)), h.device("d1", bowlLoss(small, 1))
				for range 7 {
					h.round()
				}
				h.announce()
				h.take()
				had := h.last()
				h.cut(had-tt.lost, tt.epoch)
				h.slots = map[string]uint32{"d1": 0, "d0": 1} // lost with the tail
				for range tt.again + 5 {
					h.silent()
					h.announce()
				}
				for _, d := range []*device{d0, d1} {
					n, _ := d.Digest()
					if p := d.now(); n != had || p.State != client.Paused || p.Reason == "" {
						t.Errorf("record %d of %d, progress %+v, want a pause and why", n, had, p)
					}
				}
				h.accept()
				for range tt.again {
					h.silent()
					h.announce()
				}
				reports := d0.progress()
				if !slices.ContainsFunc(reports, func(p client.Progress) bool {
					return p.State == client.Joining && p.Err != nil &&
						strings.Contains(p.Err.Error(), "does not hold")
				}) {
					t.Errorf("the recorder got %+v, want that the device starts over", reports)
				}
				for range 3 {
					if replies := h.round(); len(replies) != 2 {
						t.Fatalf("got %s, want two contributions", kinds(replies))
					}
				}
				h.announce()
				h.agrees(d0, h.last())
				h.agrees(d1, h.last())
			})
		})
	}
}

// A coordinator that returns without its log waits for devices to join, and devices join. If the
// coordinator has another plan, the devices start over. If the coordinator has the same plan, the
// devices start over once the operator accepted the loss.
func TestLogIsReplaced(t *testing.T) {
	for _, samePlan := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, testPlan(small))
			d := h.device("d0", bowlLoss(small, 0))
			for range 3 {
				h.round()
			}
			h.announce()
			h.take()
			h.cut(1, 2)
			h.mu.Lock()
			h.slots = map[string]uint32{}
			h.mu.Unlock()
			if !samePlan {
				h.plan = testPlan(small)
				h.plan.RunKey = bytes.Repeat([]byte{8}, 32)
				h.cut(0, 2)
				h.append(wire.Record{Kind: wire.KindPlan, Plan: h.plan})
			}
			pass(20 * time.Second)
			if samePlan {
				h.accept()
				pass(20 * time.Second)
			}
			h.mu.Lock()
			joined := len(h.slots)
			h.mu.Unlock()
			if joined != 1 {
				t.Fatalf("same plan: %v: %d devices joined again, want 1", samePlan, joined)
			}
			if n, _ := d.Digest(); !samePlan && n != 1 {
				t.Errorf("record %d after another plan, want 1", n)
			}
			h.announce() // with the same plan, this announcement shows that the tail is gone
			h.take()
			for range 3 {
				h.round()
			}
			h.announce()
			h.agrees(d, h.last())
		})
	}
}

// A device reports the digest of a record again if the record has another state than before.
func TestDigestAfterLoss(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.DigestEvery = 4
		h := newHost(t, p)
		h.device("d0", bowlLoss(small, 0))
		for h.last() < 4 {
			h.round()
		}
		h.announce()
		was := by(h.take(), wire.DigestReport)["d0"]
		h.cut(3, 2)
		h.commit(1, 2)
		h.announce()
		h.accept()
		h.announce()
		h.announce()
		now := by(h.take(), wire.DigestReport)["d0"]
		want := h.witness(4).Digest()
		if was.N != 4 || now.N != 4 || now.Digest != [8]byte(want[:8]) || now.Digest == was.Digest {
			t.Errorf("digest %x of record %d, then %x of record %d, want another of the same: %x",
				was.Digest, was.N, now.Digest, now.N, want[:8])
		}
	})
}

// A device that was away while the log lost its tail tells the coordinator so. The log is then as
// long as before, longer by one record, or much longer. The device starts over once the operator
// accepted the loss.
func TestForkedWhileAway(t *testing.T) {
	for longer := range uint64(5) {
		bubble(t, func(t *testing.T) {
			h := newHost(t, testPlan(small))
			d := h.device("d0", bowlLoss(small, 0))
			for range 5 {
				h.round()
			}
			h.announce()
			h.take()
			was := h.last()
			d.stop()
			h.cut(was-2, 2)
			for h.last() < was+longer {
				h.commit(7, 7)
			}
			d.run()
			for range 5 {
				h.announce()
				pass(5 * time.Second)
			}
			h.silent()
			h.holdsOn(d, was)
			h.accept()
			h.announce()
			h.announce()
			h.one(wire.Contribution)
			h.agrees(d, h.last())
		})
	}
}

// A device does not follow an announcement with a record that is not the log's, because the log
// still holds the device's last record.
func TestForgedRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		for range 3 {
			h.round()
		}
		h.announce()
		h.take()
		before := h.last()
		other := newHost(t, testPlan(small)) // its rounds have other scalars
		other.epoch = 9
		for other.last() < before+2 {
			other.commit(1, 2)
		}
		other.slots = h.slots
		for _, n := range []uint64{before, before + 1, before + 2} {
			a := other.announcement()
			a.N, a.Records = n+1, wire.Records{}
			a.Records.Add(other.records[n-1])
			d.progress()
			h.send(a)
			h.silent()
			if p := d.now(); p.Err == nil ||
				!strings.Contains(p.Err.Error(), "contradicts the log") &&
					!strings.Contains(p.Err.Error(), "no record") {
				t.Errorf("record %d: progress %+v, want an error", n, p)
			}
		}
		h.agrees(d, before)
		h.round() // the true coordinator has a lower epoch
		h.announce()
		h.agrees(d, before+1)
	})
}

// A device applies a forged record that continues the log, because nothing shows that the record is
// forged. When the true record arrives, the device tells the coordinator. Once the operator
// accepted the loss of the forged record, the device undoes it.
func TestForgedContinuation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.round()
		last := h.last()
		h.commit(3, 4)
		h.announce()
		h.agrees(d, last+1)
		h.take()
		h.cut(last, 1)
		h.commit(5, 6)
		h.announce()
		h.silent()
		h.holdsOn(d, last+1)
		h.accept()
		h.announce()
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, last+1)
	})
}

// If two coordinators of one run have different plans, and answer in turn, a device does not start
// over in a busy loop.
func TestTwoPlansTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		other := testPlan(small)
		other.Mu = 0.5
		r := wire.Record{N: 1, Prev: wire.Genesis(runName), Epoch: 1, Kind: wire.KindPlan,
			Plan: other}
		plan2 := r.Append(nil)
		joins := 0
		stop := make(chan struct{})
		h.answers(func(m bus.Message) bool {
			if _, err := wire.DecodeJoinRequest(m.Data); err != nil {
				return false
			}
			if joins++; joins == 2000 {
				close(stop)
			}
			if joins%2 == 0 {
				reply := wire.JoinReply{Slot: 0, Last: 1, Plan: plan2}
				h.publish(m.Reply, reply.Append(nil))
				return true
			}
			return joins > 2000
		})
		began := time.Now()
		d := h.newDevice("d0", bowlLoss(small, 0))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- d.Run(ctx) }()
		select {
		case <-stop:
			t.Errorf("2000 joins in %v", time.Since(began))
		case <-time.After(time.Minute):
		}
		cancel()
		<-done
	})
}
