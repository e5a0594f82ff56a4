package client_test

import (
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// forge publishes announcements that nobody signed.
func (h *host) forge(frames int) {
	a := h.announcement()
	frame, _, err := h.signer.Announcement(runName, a.Append(nil))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := range frames {
		forged := append([]byte(nil), frame...)
		forged[len(forged)-1-i%signed.NonceLen] ^= byte(1 + i%250)
		h.publish(subjects.Announce(runName, 0), forged)
	}
}

// offer announces the next round, and lets joins bring the announcement.
func (h *host) offer() {
	h.mu.Lock()
	a := h.announcement()
	h.inForce = h.encode(a)
	h.mu.Unlock()
	h.send(a)
}

// flooded makes rounds while forged frames arrive. flooded returns the longest time until the
// device answered a round.
func (h *host) flooded(rounds, frames int) (most time.Duration) {
	const step = 50 * time.Millisecond
	for range rounds {
		h.forge(frames)
		h.offer()
		began := time.Now()
		replies := h.take()
		for len(replies) == 0 && time.Since(began) < time.Minute {
			h.forge(frames)
			pass(step)
			replies = h.take()
		}
		most = max(most, time.Since(began))
		if len(replies) == 0 || replies[0].Kind != wire.Contribution {
			h.t.Fatalf("record %d: %s", h.last()+1, kinds(replies))
		}
		h.conclude(h.aggregate(replies[:1]))
	}
	return most
}

// joined returns how many joins the host has heard.
func (h *host) joined() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.joins
}

// TestFlood: a device in a flood of forged announcements checks few of them. Soon the device
// unsubscribes, and asks the coordinator instead. So the device takes part in every round. When the
// flood is over, the device subscribes again.
func TestFlood(t *testing.T) {
	for _, tt := range []struct {
		name   string
		frames int  // each 50 ms
		deaf   bool // the device unsubscribes
	}{{"torrent", 300, true}, {"stream", 10, false}} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				d := h.device("d0", bowlLoss(small, 0), h.sign())
				h.round()
				d.progress()
				began := time.Now()
				most := h.flooded(60, tt.frames)
				took := time.Since(began).Seconds()
				if most > 800*time.Millisecond {
					t.Errorf("a round took %v", most)
				}
				h.agrees(d, h.last()-1)
				if h.joined() > 60+int(8*took) {
					t.Errorf("%d joins in %.0f s", h.joined(), took)
				}
				last := d.now()
				if last.Skipped == 0 || float64(last.Refused-last.Skipped) > 130+33*took {
					t.Errorf("%d frames refused, %d of them unread, in %.0f s", last.Refused,
						last.Skipped, took)
				}
				if deaf := last.Refused < uint64(20*took)*uint64(tt.frames)/2; deaf != tt.deaf {
					t.Errorf("%d frames heard in %.0f s", last.Refused, took)
				}
				pass(2 * time.Minute)
				h.mu.Lock()
				h.inForce = nil
				h.mu.Unlock()
				joins := h.joined()
				for range 3 {
					h.round() // at once
				}
				pass(3 * time.Second)
				if h.joined() > joins {
					t.Errorf("%d joins after the flood", h.joined()-joins)
				}
			})
		})
	}
}

// TestFloodOfPassive: a passive replica follows the log during a flood.
func TestFloodOfPassive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("w", nil, h.sign(), func(c *client.Config) { c.Passive = &client.Passive{} })
		for range 40 {
			h.commit()
			h.forge(2000)
			h.announce()
			pass(time.Second)
			h.agrees(d, h.last())
		}
	})
}
