package client_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// slow is a loss that takes d and honors its context.
func slow(d *time.Duration) func(ctx context.Context, x []float32) (float64, error) {
	return func(ctx context.Context, _ []float32) (float64, error) {
		select {
		case <-time.After(*d):
			return 0, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// A slow device declines at once, so that no round waits for it, and soon tries again.
func TestEarlyDecline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		query := 9 * time.Second // 27 s a round of 30
		o.mood = slow(&query)
		d := h.device("d0", o)
		h.announce()
		pass(27 * time.Second)
		h.one(wire.Contribution)
		h.commit()

		before := o.calls.Load()
		h.announce(func(a *wire.Announcement) { a.Left = 26_999 })
		h.declines(wire.DeclineTime)
		if err := d.now().Err; !strings.Contains(err.Error(),
			"3 queries take 27s, 26.999s are left") {
			t.Errorf("progress says %v, want the estimate", err)
		}
		if n := o.calls.Load() - before; n != 0 {
			t.Errorf("%d callbacks before the decline, want none", n)
		}
		h.commit()
		query = time.Second
		h.announce(func(a *wire.Announcement) { a.Left = 26_999 }) // the device has halved its estimate
		pass(3 * time.Second)
		h.one(wire.Contribution)
		d.stop()
	})
}

// A round ends at its deadline, also during a query. If a loss never finishes in time, the device
// estimates the loss's time from the deadline.
func TestDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		query := time.Hour
		o.mood = slow(&query)
		d := h.device("d0", o)
		began := time.Now()
		h.announce(func(a *wire.Announcement) { a.Left = 1500 })
		pass(1500*time.Millisecond - 1)
		h.silent()
		pass(1)
		h.declines(wire.DeclineTime)
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("declined after %v, want 1.5s", took)
		}
		h.commit()
		h.announce(func(a *wire.Announcement) { a.Left = 4000 }) // 3 queries of 1.5 s or more
		h.declines(wire.DeclineTime)
		h.commit()
		h.announce(func(a *wire.Announcement) { a.Left = 0 }) // the announcement came late
		h.declines(wire.DeclineTime)
		if err := d.now().Err; !strings.Contains(err.Error(), "time was up before the work began") {
			t.Errorf("progress says %v, want that it was too late", err)
		}
		h.commit()
		query = time.Millisecond
		h.announce()
		pass(3 * time.Millisecond)
		h.one(wire.Contribution)
		d.stop()
	})
}

// A device reaches the head only after the attempt has closed. The device takes the next attempt,
// which the coordinator announced meanwhile. The device neither declines nor doubts its speed.
func TestLateForOneAttempt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.round()
		h.commit()
		h.commit() // not announced: the device has to ask
		lost := 1
		h.answers(func(bus.Message) bool { lost--; return lost >= 0 })
		h.announce(func(a *wire.Announcement) { a.Left = 3000 })
		pass(4 * time.Second)
		h.silent()
		h.announce(func(a *wire.Announcement) { a.Attempt, a.Left = 1, 30_000 })
		pass(4 * time.Second) // the first request times out, and the host answers the next one
		if r := h.one(wire.Contribution); r.N != h.last()+1 {
			t.Errorf("contributed to record %d, want %d", r.N, h.last()+1)
		}
		if err := d.now().Err; err != nil {
			t.Errorf("progress says %v", err)
		}
		d.stop()
	})
}

// A later announcement ends the work on an earlier round without a reply. Of several
// announcements the device works on the newest, and applies the records of all.
func TestSuperseded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		query := 5 * time.Second
		o.mood = slow(&query)
		d := h.device("d0", o)
		h.announce()
		pass(time.Second)
		h.commit()
		h.announce()
		h.commit()
		h.announce()
		h.commit()
		query = time.Second
		h.announce()
		pass(3 * time.Second)
		if r := h.one(wire.Contribution); r.N != h.last()+1 {
			t.Errorf("contributed to record %d, want %d", r.N, h.last()+1)
		}
		h.agrees(d, h.last())
		if asked := h.asked(); len(asked) > 0 {
			t.Errorf("asked for records %v, want none: all were announced", asked)
		}
	})
}

// While the app and Run are busy, announcements pile up. The device drops the oldest announcements,
// and requests their records.
func TestInboxOverflow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.EvalEvery, p.EvalCount, p.Metrics = 1, 1, []string{"m"}
		h, o := newHost(t, p), newMoody(t)
		release := make(chan struct{})
		o.metrics = func(context.Context, []float32) ([]float64, int, error) {
			<-release
			return []float64{1}, 1, nil
		}
		d := h.device("d0", o)
		h.announce()
		h.one(wire.Contribution)
		for range 40 {
			h.commit()
			h.announce()
		}
		h.silent()
		close(release)
		synctest.Wait()
		h.agrees(d, h.last())
		if asked := h.asked(); len(asked) != 1 {
			t.Errorf("asked from records %v, want one request", asked)
		}
		newest := 0
		for _, r := range h.take() {
			if r.Kind == wire.Contribution {
				newest++
				if r.N != h.last()+1 {
					t.Errorf("contributed to record %d, want %d only", r.N, h.last()+1)
				}
			}
		}
		if newest != 1 {
			t.Errorf("got %d contributions, want 1", newest)
		}
		d.stop()
	})
}

// A device outside the cohort sends and computes nothing, but follows the log.
func TestCohort(t *testing.T) {
	for _, open := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			const devices, sampled, rounds = 8, 3, 12
			p := testPlan(small)
			cohort := wire.Cohort{Sampled: sampled, Members: devices}
			if open {
				p.Roster, cohort = plan.OpenRoster,
					wire.Cohort{Sampled: wire.FullThreshold * sampled / devices}
			}
			h := newHost(t, p)
			var all []*device
			var objectives []*moody
			for i := range devices {
				objectives = append(objectives, newMoody(t))
				all = append(all, h.device(string(rune('a'+i)), objectives[i]))
			}
			asked, total := map[string]int{}, 0
			for range rounds {
				h.announce(func(a *wire.Announcement) { a.Cohort = cohort })
				replies := h.take()
				if !open && len(replies) != sampled {
					t.Fatalf("got %s, want %d contributions", kinds(replies), sampled)
				}
				for _, r := range replies {
					asked[r.id]++
					total++
					if slot := h.slots[r.id]; !cohort.Has(runName, h.last()+1, 0, slot, r.id) {
						t.Errorf("%s replied and is not in the cohort", r.id)
					}
				}
				h.commit()
			}
			h.announce(func(a *wire.Announcement) { a.Cohort.Sampled = 0 })
			h.silent()
			for i, d := range all {
				h.agrees(d, h.last())
				// A policy and P+1 queries each time, no more.
				if got, want := int(objectives[i].calls.Load()),
					4*asked[string(rune('a'+i))]; got != want {
					t.Errorf("open=%v: device %d made %d callbacks, want %d", open, i, got, want)
				}
			}
			if total < rounds || total > 2*sampled*rounds {
				t.Errorf("open=%v: %d contributions in %d rounds, want about %d",
					open, total, rounds, sampled*rounds)
			}
		})
	}
}

// A device that joins a paused run waits, reports the reason of the pause, and continues at the
// next announcement.
func TestPaused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		d := h.device("d0", o)
		h.announce(func(a *wire.Announcement) {
			a.State, a.Reason = wire.Paused, "2 of 3 declined"
		})
		h.silent()
		if p := d.now(); p.State != client.Paused || p.Reason != "2 of 3 declined" {
			t.Errorf("progress %+v, want paused and why", p)
		}
		if n := o.calls.Load(); n != 0 {
			t.Errorf("%d callbacks while paused", n)
		}
		h.round()
	})
}
