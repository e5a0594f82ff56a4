package client_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// slowly makes each answer to a catch-up take a second, and returns the number of answers.
func (h *host) slowly() *atomic.Int64 {
	var seconds atomic.Int64
	h.answers(func(m bus.Message) bool {
		request, err := wire.DecodeCatchUpRequest(m.Data)
		if err != nil {
			return false
		}
		reply := wire.CatchUpReply{From: request.From, Last: uint64(len(h.records))}
		for i := int(request.From) - 1; i < len(h.records) && reply.Records.Len() < 8; i++ {
			reply.Records.Add(h.records[i])
		}
		time.AfterFunc(time.Second, func() {
			seconds.Add(1)
			h.publish(m.Reply, reply.Append(nil))
		})
		return true
	})
	return &seconds
}

// attack makes the device start over as soon as it is at the head, for the given time. attack
// returns how often the device replayed the log. again changes the log.
func (h *host) attack(d *device, during time.Duration, again func()) (replays int) {
	h.asked()
	for began := time.Now(); time.Since(began) < during; pass(time.Second) {
		if n, _ := d.Digest(); n == h.last() {
			again()
		}
		h.announce()
		for _, from := range h.asked() {
			if from == 2 {
				replays++
			}
		}
	}
	return replays
}

// A coordinator rolls the run back as soon as a device has followed. After three replays, the
// device replays for at most half of its time. The device reports that it waits, and follows in the
// end.
func TestReplayBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		for range 40 {
			h.round()
		}
		h.announce()
		h.agrees(d, h.last())
		seconds := h.slowly()
		d.progress()
		const during = 10 * time.Minute
		replays := h.attack(d, during, func() { h.rollback(40) })
		// three replays at once, and then replays after waits of 5 s and more: each wait is twice as long
		// as the last
		if replays < 6 || replays > 12 || time.Duration(seconds.Load()) > during/2/time.Second {
			t.Errorf("%d replays that took %d s of %v", replays, seconds.Load(), during)
		}
		waits := 0
		for _, p := range d.progress() {
			if p.Err != nil && strings.Contains(p.Err.Error(), "rolled back too often: replaying") {
				waits++
			}
		}
		if waits < 100 {
			t.Errorf("the device said %d times that it waits", waits)
		}
		for range 60 {
			pass(time.Minute)
			h.announce()
		}
		h.agrees(d, h.last())
	})
}

// An operator's rollbacks cost no wait: three rollbacks at once, and one more each twenty minutes.
func TestFreeReplays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		for range 40 {
			h.round()
		}
		h.announce()
		h.slowly()
		follows := func(pause time.Duration) {
			t.Helper()
			pass(pause)
			h.rollback(40)
			h.announce()
			pass(20 * time.Second)
			h.agrees(d, h.last())
		}
		for range 3 {
			follows(0)
		}
		for range 5 {
			follows(20 * time.Minute)
		}
	})
}

// If a coordinator replaces its log again and again, and the operator accepts each loss, the
// device's replays have the same bound.
func TestReplayBudgetOfForks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		for range 40 {
			h.round()
		}
		h.announce()
		h.agrees(d, h.last())
		seconds := h.slowly()
		const during = 10 * time.Minute
		replays := h.attack(d, during, func() {
			h.cut(h.last()-1, h.epoch+1)
			h.waived = true
			h.commit()
		})
		if replays < 4 || replays > 12 || time.Duration(seconds.Load()) > during/2/time.Second {
			t.Errorf("%d replays that took %d s of %v", replays, seconds.Load(), during)
		}
	})
}
