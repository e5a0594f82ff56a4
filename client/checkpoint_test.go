package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// A device writes a checkpoint every so many records, after some time, and at the end of a catch-up
// and of Run. A device never writes two checkpoints for one record.
func TestCheckpoints(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store),
			func(c *client.Config) { c.CheckpointEvery = 10 })
		saves := func(what string, want int) {
			t.Helper()
			h.take()
			if n := count(store.took(), "checkpoint"); n != want {
				t.Errorf("%s: %d checkpoints, want %d", what, n, want)
			}
		}
		h.follow(8)
		saves("9 records", 0)
		h.follow(1)
		saves("the 10th record", 1)
		h.follow(9)
		saves("9 records more", 0)
		pass(5 * time.Minute)
		pass(time.Minute)
		saves("a while", 1)
		pass(20 * time.Minute)
		saves("without a record", 0)
		for range 25 {
			h.commit()
		}
		h.atOnce = 4
		h.announce()
		saves("a catch-up", 1)
		h.follow(2)
		d.stop()
		saves("the end of Run", 1)
		d.run()
		d.stop()
		saves("a second Run without a record", 0)
	})
}

// A long catch-up writes checkpoints at intervals.
func TestCheckpointsWithinCatchUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store), func(c *client.Config) {
			c.Bus, c.RequestTimeout = slowBus{h.bus}, 5*time.Minute
		})
		pass(5 * time.Minute)
		store.took()
		for range 100 {
			h.commit()
		}
		h.atOnce = 1
		h.announce()
		pass(30 * time.Minute)
		if n := count(store.took(), "checkpoint"); n != 6 && n != 7 {
			t.Errorf("%d checkpoints in 30 minutes of catching up, want 6 or 7", n)
		}
		store = d.killed(store)
		h.asked()
		d = h.device("d0", bowlLoss(small, 0), with(store))
		h.announce()
		h.agrees(d, h.last())
		if asked := h.asked(); asked[0] < 25 {
			t.Errorf("asked from record %d, want it to go on", asked[0])
		}
	})
}

// A slowBus answers requests after a minute.
type slowBus struct{ *bus.Memory }

func (b slowBus) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	select {
	case <-time.After(time.Minute):
	case <-ctx.Done():
	}
	return b.Memory.Request(ctx, subject, data)
}

// The device sets aside and reports a damaged checkpoint, and replays the log.
func TestUnusableCheckpoint(t *testing.T) {
	tests := []struct {
		name   string
		damage func(file []byte) []byte
		says   string
	}{
		{"torn", func(b []byte) []byte { return b[:len(b)/2] }, "bytes, want"},
		{"empty", func([]byte) []byte { return nil }, "bad state file"},
		{"one bit", func(b []byte) []byte { b[len(b)-100] ^= 1; return b }, "digest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h, store := newHost(t, testPlan(small)), newStore(t)
				d := h.device("d0", bowlLoss(small, 0), with(store))
				h.follow(5)
				d.stop()
				store.put("checkpoint", tt.damage(store.get("checkpoint")))
				d = h.device("d0", bowlLoss(small, 0), with(store))
				reports := d.progress()
				if !slices.ContainsFunc(reports, func(p client.Progress) bool {
					return errors.Is(p.Err, client.ErrStore) &&
						strings.Contains(p.Err.Error(), tt.says)
				}) {
					t.Errorf("the recorder got %+v, want %v that says %q",
						reports, client.ErrStore, tt.says)
				}
				if !store.isAside("checkpoint") {
					t.Error("the file was not set aside")
				}
				h.announce()
				h.one(wire.Contribution)
				h.agrees(d, h.last())
			})
		})
	}
}

// foreignState returns the state file of another run or model.
func foreignState(t testing.TB, run string, dim int, given ...float32) []byte {
	t.Helper()
	p := testPlan(dim)
	p.Run = run
	cfg := replica.Config{Run: run}
	if len(given) > 0 {
		x := make([]float32, dim)
		copy(x, given)
		give(p, x)
		cfg.Initial = x
	}
	r := replica.New(cfg)
	record := wire.Record{N: 1, Prev: wire.Genesis(run), Epoch: 1, Kind: wire.KindPlan, Plan: p}
	if err := r.Apply(record.Append(nil)); err != nil {
		t.Fatal(err)
	}
	return stateOf(t, r, replica.History{})
}

func stateOf(t testing.TB, r *replica.Replica, history replica.History) []byte {
	t.Helper()
	var b strings.Builder
	if err := r.Save(&b, history); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}

// A device finds out that its checkpoint is of another log: a log with another plan, a shorter log,
// a log of equal length, and a longer log.
func TestCheckpointOfAnotherLog(t *testing.T) {
	for longer := range 5 {
		bubble(t, func(t *testing.T) {
			h, store := newHost(t, testPlan(small)), newStore(t)
			d := h.device("d0", bowlLoss(small, 0), with(store))
			h.follow(6)
			d.stop()
			was := h.last()
			switch longer {
			case 0:
				h.plan = testPlan(small)
				h.plan.RunKey = slices.Repeat([]byte{9}, 32)
				h.cut(0, 2)
				h.append(wire.Record{Kind: wire.KindPlan, Plan: h.plan})
				h.follow(8)
			default:
				h.cut(was-3, 2)
				for int(h.last()) < int(was)+longer-2 {
					h.commit(7, 7)
				}
			}
			d = h.device("d0", bowlLoss(small, 0), with(store))
			pass(time.Minute)
			if longer > 0 {
				h.holdsOn(d, was)
				h.accept()
			}
			for range 3 {
				h.announce()
				pass(time.Minute)
			}
			h.agrees(d, h.last())
			h.take()
			h.commit()
			h.announce()
			h.one(wire.Contribution)
		})
	}
}

// Whatever the store holds, a rollback to a record before or after the checkpoint leads to the same
// state. After a rollback to a record after the checkpoint, the device does not replay the records
// before the checkpoint.
func TestRollbackAndCheckpoint(t *testing.T) {
	for _, tt := range []struct{ to, from uint64 }{{3, 2}, {9, 2}, {10, 11}, {13, 11}} {
		for _, restart := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				h, store := newHost(t, testPlan(small)), newStore(t)
				d := h.device("d0", bowlLoss(small, 0), with(store),
					func(c *client.Config) { c.CheckpointEvery = 10 })
				h.follow(14) // the checkpoint is of record 10
				if restart {
					store = d.killed(store)
				}
				h.append(wire.Record{Kind: wire.KindRollback, To: tt.to})
				h.asked()
				h.follow(1)
				if restart {
					d = h.device("d0", bowlLoss(small, 0), with(store))
				}
				h.announce()
				h.agrees(d, h.last())
				h.one(wire.Contribution)
				if asked := h.asked(); !slices.Contains(asked, tt.from) ||
					restart && !slices.Contains(asked, 11) {
					t.Errorf("to %d: asked from %v, want %d among them", tt.to, asked, tt.from)
				}
			})
		}
	}
}
