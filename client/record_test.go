package client_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// bring makes an announcement carry records from..last.
func (h *host) bring(from uint64) func(*wire.Announcement) {
	return func(a *wire.Announcement) {
		a.Records = wire.Records{}
		for n := from; n < a.N; n++ {
			a.Records.Add(h.records[n-1])
		}
	}
}

// A device that missed records takes them from the announcement, or asks.
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

// A late joiner replays everything, changes and pauses between rounds too, and
// then contributes like the others.
func TestLateJoiner(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.device("d0", bowlLoss(small, 0))
		for range 5 {
			h.round()
		}
		change := wire.Change{}
		if err := change.Set("step", "0.01"); err != nil {
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

// A catch-up that fails, whatever the way, is tried again: a request that got
// no answer at once, the others with the next announcement.
func TestCatchUpFails(t *testing.T) {
	tests := []struct {
		name   string
		answer func(h *host, m bus.Message)
		says   string
	}{
		{"no answer", func(*host, bus.Message) {}, "no answer in 5s"},
		{"garbage", func(h *host, m bus.Message) { h.publish(m.Reply, []byte{0xc1}) }, "catch-up reply"},
		{"other records", func(h *host, m bus.Message) {
			h.publish(m.Reply, (&wire.CatchUpReply{From: 99}).Append(nil))
		}, "got 99"},
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
				if p := d.now(); p.State != client.CatchingUp || p.Last < 4 || p.Err == nil || !strings.Contains(p.Err.Error(), tt.says) {
					t.Errorf("progress %+v, want an error that says %q", p, tt.says)
				}
				h.answers(nil)
				h.announce()
				pass(10 * time.Second)
				if replies := h.take(); len(by(replies, wire.Contribution)) != 1 { // to each of the two
					t.Errorf("got %s, want a contribution", kinds(replies))
				}
				h.agrees(d, h.last())
			})
		})
	}
}

// Old announcements, and those of a coordinator that another one replaced, are
// ignored; what comes is not asked for.
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
			h.round() // what is current resets the count
		}
		h.announce()
		h.agrees(d, h.last())
		if asked := h.asked(); len(asked) > 0 {
			t.Errorf("asked for records %v", asked)
		}
		h.take()

		// However often, as long as the log holds what this device has.
		for range 10 {
			h.send(old)
		}
		h.silent()
		h.agrees(d, h.last())
	})
}

// An announcement of a lower epoch is followed in the end, if nobody sends
// another and the log holds what this device has: a forged one may have named a
// high epoch.
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

// cut makes the log lose its tail, and the coordinator start again.
func (h *host) cut(last uint64, epoch uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rounds -= min(h.rounds, h.last()-last)
	h.records, h.epoch = h.records[:last], epoch
}

// A log that lost its tail goes on from what it has, and every device with it:
// with a new epoch, with one that devices saw before, and with an earlier one.
func TestLogLosesItsTail(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lost  uint64
		epoch uint64
		again int // announcements until a device starts over
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
				h.cut(h.last()-tt.lost, tt.epoch)
				h.slots = map[string]uint32{"d1": 0, "d0": 1} // they were lost too
				d0.progress()
				for range tt.again {
					h.silent()
					h.announce()
				}
				said := d0.progress()
				if !slices.ContainsFunc(said, func(p client.Progress) bool {
					return p.State == client.Joining && p.Err != nil && strings.Contains(p.Err.Error(), "does not hold")
				}) {
					t.Errorf("the recorder was told %+v, want that the device starts over", said)
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

// A coordinator that comes back without its log, and waits for devices to join,
// gets them: with another plan they start over, with the same one they take
// part once it announces.
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
			h.mu.Lock()
			joined := len(h.slots)
			h.mu.Unlock()
			if joined != 1 {
				t.Fatalf("same plan: %v: %d devices joined again, want 1", samePlan, joined)
			}
			if n, _ := d.Digest(); !samePlan && n != 1 {
				t.Errorf("record %d after another plan, want 1", n)
			}
			h.announce() // shows with the same plan that the rest is gone
			h.take()
			for range 3 {
				h.round()
			}
			h.announce()
			h.agrees(d, h.last())
		})
	}
}

// The digest of a record that has another state now is reported again.
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
		h.announce()
		now := by(h.take(), wire.DigestReport)["d0"]
		want := h.witness(4).Digest()
		if was.N != 4 || now.N != 4 || now.Digest != [8]byte(want[:8]) || now.Digest == was.Digest {
			t.Errorf("digest %x of record %d, then %x of record %d, want another of the same: %x",
				was.Digest, was.N, now.Digest, now.N, want[:8])
		}
	})
}

// A device that was away while the log lost its tail, and comes back when the
// log is as long as before, longer by one, or much longer, starts over.
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
			h.announce()
			h.announce()
			h.one(wire.Contribution)
			h.agrees(d, h.last())
		})
	}
}

// An announcement with a record that is not the log's is seen through: the log
// still holds what this device has.
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
			if p := d.now(); p.Err == nil || !strings.Contains(p.Err.Error(), "at odds with the log") && !strings.Contains(p.Err.Error(), "no record") {
				t.Errorf("record %d: progress %+v, want an error", n, p)
			}
		}
		h.agrees(d, before)
		h.round() // the true coordinator has a lower epoch
		h.announce()
		h.agrees(d, before+1)
	})
}

// A forged record that continues the log is applied, since nothing tells it
// apart, and undone when the true one arrives.
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
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, last+1)
	})
}

// A rollback is replayed, one inside of another too, by who was there and by
// who joins later.
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
		back := func(to uint64) { h.append(wire.Record{Kind: wire.KindRollback, To: to}); h.announce(); h.take() }
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
		back(h.last()) // changes nothing
		if n, _ := d.Digest(); n != h.last() || digest() != want {
			t.Fatalf("digest %x after record %d, want %x after %d", digest(), n, want, h.last())
		}
		h.atOnce = 2
		late := h.device("d1", bowlLoss(small, 1))
		rounds(1)
		h.announce()
		n, got := late.Digest()
		if m, want := d.Digest(); n != m || got != want {
			t.Errorf("the late joiner has digest %x after record %d, the other %x after %d", got, n, want, m)
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
			forged := (&wire.Record{N: last + 10, Prev: wire.Hash{1}, Epoch: 1, Kind: wire.KindRollback, To: to}).Append(nil)
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

// A rollback that is interrupted, by lost answers or a stop, is finished later:
// while the state is replayed, and while what is undone is passed over.
func TestInterruptedRollback(t *testing.T) {
	for _, lost := range []uint64{1, 2, 4, 5} { // requests from here on
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
			want := max(1, min(lost-1, 3)) // the plan is at hand, record 4 does not count
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

// Frames that are no announcements are counted and do nothing else.
func TestGarbageFrames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		good := h.announcement()
		frame := good.Append(nil)
		otherVersion := slices.Clone(frame)
		otherVersion[1] = wire.FrameVersion + 1
		frames := [][]byte{
			nil, {0}, {0xdd, 0xff, 0xff, 0xff, 0xff, 1, 1}, // an array of 2^32-1
			otherVersion, make([]byte, wire.MaxFrame+1),
		}
		for n := range frame {
			frames = append(frames, frame[:n])
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			b := make([]byte, random.IntN(100))
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			frames = append(frames, b)
		}
		for _, f := range frames {
			h.sendFrame(f)
		}
		h.silent()
		h.round()
		if p := d.now(); p.Refused != uint64(len(frames)) {
			t.Errorf("%d frames refused, want %d", p.Refused, len(frames))
		}
		h.announce()
		h.agrees(d, h.last())
	})
}

// Announcements that decode, but cannot be, are refused before they cost
// anything.
func TestImpossibleAnnouncements(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Steps, p.Perturbations = 4000, 3
		h, o := newHost(t, p), newMoody(t)
		d := h.device("d0", o)
		for i, edit := range []func(*wire.Announcement){
			func(a *wire.Announcement) { a.N, a.Records = 1, wire.Records{} },
			func(a *wire.Announcement) { a.N = 1 },
			func(a *wire.Announcement) { a.Records.Add(h.records[0]) },
			func(a *wire.Announcement) { a.Perturbations = 0 },
			func(a *wire.Announcement) { a.Perturbations = 65535 }, // a gigabyte of scalars
			func(a *wire.Announcement) { a.Step = 0 },
			func(a *wire.Announcement) { a.Step = -1 },
		} {
			h.announce(edit)
			h.silent()
			if p := d.now(); p.Err == nil || p.Refused != uint64(i+1) {
				t.Errorf("%d: progress %+v, want an error and %d refused", i, p, i+1)
			}
		}
		if n := o.calls.Load(); n != 0 {
			t.Errorf("%d callbacks", n)
		}
		h.agrees(d, 1)
	})
}

// A record of a later version stops Run: to guess would be to diverge.
func TestUpgradeStopsRun(t *testing.T) {
	for _, announced := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, testPlan(small))
			d := h.device("d0", bowlLoss(small, 0))
			h.round()
			later := h.commit()
			later[1] = wire.RecordVersion + 1
			if !announced {
				h.commit()
			}
			h.announce()
			if err := d.result(); !errors.Is(err, wire.ErrUpgrade) {
				t.Errorf("Run returned %v, want %v", err, wire.ErrUpgrade)
			}
			h.agrees(d, 2)
		})
	}
}

// Run ends with the run, and a second Run has nothing to do.
func TestEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.round()
		old := h.announcement()
		h.end()
		a := h.announcement()
		a.State = wire.Ended
		h.publish(wire.AnnounceSubject(runName, 0), a.Append(nil))
		h.publish(wire.AnnounceSubject(runName, 0), old.Append(nil)) // delayed
		if err := d.result(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		if p := d.now(); p.State != client.Ended || p.N != h.last() {
			t.Errorf("progress %+v, want ended", p)
		}
		h.agrees(d, h.last())
		h.take()
		d.run()
		if err := d.result(); err != nil {
			t.Errorf("second Run returned %v", err)
		}
		if p := d.now(); p.State != client.Ended {
			t.Errorf("progress %+v, want ended", p)
		}
		h.silent()
	})
}

// An end that is announced with an open round, as only a liar would, is an end.
func TestEndWithOpenRound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.end()
		h.announce()
		if err := d.result(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		h.silent()
	})
}
