package client_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// A walk is a host whose actions a random generator picks.
type walk struct {
	*host
	random  *rand.Rand
	device  *device
	store   *memStore
	passive *device
	sent    [][]byte // announcements
}

// begin starts the device in a new process.
func (w *walk) begin() {
	w.device = w.host.device("d0", bowlLoss(small, 0), with(w.store), func(c *client.Config) {
		c.CheckpointEvery, c.CheckpointInterval, c.Horizon = 5, time.Minute, 12
	})
}

// Whatever happens to the log, the messages, the device, its memory and its store, a few
// announcements later the device has the log's state and takes part. The same holds for a passive
// replica, whose snapshots the device may take.
func TestRandomWalks(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 20 // enough for the race detector, which is slow
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := testPlan(small)
				p.Rule, p.Beta, p.DigestEvery = plan.TorchMomentum, 0.5, 4
				h := newHost(t, p)
				h.atOnce = 5
				w := &walk{host: h, random: rand.New(rand.NewPCG(seed, 1)), store: newStore(t)}
				w.begin()
				if seed%2 == 0 {
					w.passive = h.passive("w", newStore(t), 8)
				}
				for range 80 {
					w.step()
				}
				h.answers(nil)
				w.store.fails(nil)
				w.mend()
				pass(2 * time.Minute) // the device may be about to join again
				for range 4 {         // one more than a device ignores
					h.take()
					// A device declines for good an attempt whose time is up.
					h.announce(func(a *wire.Announcement) { a.Attempt = 1 })
					pass(6 * time.Second)
				}
				contributions(h)
				h.agrees(w.device, h.last())
				if w.passive != nil {
					h.agrees(w.passive, h.last())
				}
			})
		})
	}
}

// mend continues until the run compares digests, in case the device's memory changed.
func (w *walk) mend() {
	pass(2 * time.Minute)
	for first := true; first || w.last()%4 != 0; first = false {
		w.commit()
	}
	for range 4 {
		w.decide()
		w.announce(w.refer(w.last()))
		pass(time.Minute)
	}
	w.decide()
}

// decide accepts the loss of records, if the run is paused because of a loss.
func (w *walk) decide() {
	if w.paused {
		w.accept()
	}
}

// contributions fails the test unless a device contributed.
func contributions(h *host) {
	h.t.Helper()
	replies := h.take()
	if len(by(replies, wire.Contribution)) != 1 {
		h.t.Fatalf("got %s, want a contribution", kinds(replies))
	}
}

func (w *walk) step() {
	switch w.random.IntN(20) {
	default:
		w.open()
	case 1:
		w.commit()
	case 2:
		w.lose()
	case 3:
		if n := w.last(); n > 1 {
			w.append(wire.Record{Kind: wire.KindRollback, To: 1 + w.random.Uint64N(n)})
		}
	case 4:
		var c plan.Change
		if err := planfile.SetChange(&c, "weight_decay", fmt.Sprint(w.random.IntN(10))); err != nil {
			w.t.Fatal(err)
		}
		w.append(wire.Record{Kind: wire.KindChange, Change: &c})
	case 5:
		if len(w.sent) > 0 { // an announcement that was delayed
			w.sendFrame(w.sent[w.random.IntN(len(w.sent))])
		}
	case 6:
		w.forge()
	case 7:
		w.device.stop()
		w.device.run()
	case 8:
		w.answers(func(bus.Message) bool { return true })
	case 9:
		w.answers(nil)
	case 10, 11:
		w.store = w.device.killed(w.store)
		if w.random.IntN(3) == 0 {
			w.damage()
		}
		w.begin()
	case 12:
		w.device.FlipBit(w.random.IntN(small))
	case 13:
		w.store.fails(errors.New("no space left on device"), "checkpoint")
	case 14:
		w.store.fails(nil)
	case 15:
		for range 3 + w.random.IntN(20) { // by other devices
			w.commit()
		}
	}
	if w.random.IntN(3) == 0 {
		pass(6 * time.Second)
	}
	if w.random.IntN(6) == 0 {
		w.decide()
	}
}

// damage changes a byte of a stored item.
func (w *walk) damage() {
	for _, item := range []string{"checkpoint", "reply"} {
		if b := w.store.get(item); len(b) > 0 && w.random.IntN(2) == 0 {
			b[w.random.IntN(len(b))] ^= 1 << w.random.IntN(8)
			w.store.put(item, b)
		}
	}
}

// open announces a round, and commits the replies, or made-up scalars.
func (w *walk) open() {
	a := w.announcement()
	w.bring(max(1, a.N-min(a.N, w.random.Uint64N(5))))(&a)
	a.Attempt = w.random.Uint32N(2)
	frame := a.Append(nil)
	w.sent = append(w.sent, frame)
	w.sendFrame(frame)
	for _, r := range w.take() {
		if r.Kind == wire.Contribution && r.N == a.N && r.Tip == w.tip().Tip() {
			w.commit(mean([]reply{r})...)
			return
		}
	}
	if w.random.IntN(2) == 0 {
		w.commit()
	}
}

// lose cuts the log, and restarts the coordinator.
func (w *walk) lose() {
	n := w.last() - w.random.Uint64N(min(w.last(), 4))
	r, err := wire.DecodeRecord(w.records[n-1])
	if err != nil {
		w.t.Fatal(err)
	}
	w.cut(n, r.Epoch+1)
}

// forge announces a record that is not in the log.
func (w *walk) forge() {
	a := w.announcement()
	a.Epoch += w.random.Uint64N(3)
	a.N = 2 + w.random.Uint64N(a.N+2)
	a.Records = wire.Records{}
	if w.random.IntN(2) == 0 {
		r := wire.Record{N: a.N - 1, Prev: wire.Hash{9}, Epoch: a.Epoch, Kind: wire.KindRollback,
			To: 1}
		if a.N == w.last()+2 {
			r.Prev = w.tip() // the record continues the log
		}
		if a.N > 2 {
			a.Records.Add(r.Append(nil))
		}
	}
	w.send(a)
}
