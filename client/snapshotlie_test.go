package client_test

import (
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// Whatever is wrong with snapshots, the device replays the log, and ends with the log's bits.
func TestSnapshotFallsBack(t *testing.T) {
	const last = 60
	lie := func(edit func(r *replica.Replica)) func(*library) {
		return func(l *library) {
			r := l.h.witness(48)
			edit(r)
			l.hold(r, replica.History{})
		}
	}
	tests := []struct {
		name string
		set  func(l *library)
	}{
		{"none", func(l *library) {
			l.edit = func(_ wire.SnapshotRequest, r *wire.SnapshotReply) bool {
				*r = wire.SnapshotReply{}
				return true
			}
		}},
		{"no answer", func(l *library) {
			l.edit = func(wire.SnapshotRequest, *wire.SnapshotReply) bool { return false }
		}},
		{"no pieces", func(l *library) {
			l.edit = func(q wire.SnapshotRequest, _ *wire.SnapshotReply) bool {
				return q.MaxBytes == 0
			}
		}},
		{"empty pieces", func(l *library) {
			l.edit = func(_ wire.SnapshotRequest, r *wire.SnapshotReply) bool {
				r.Data = nil
				return true
			}
		}},
		{"gone", func(l *library) {
			l.edit = func(q wire.SnapshotRequest, r *wire.SnapshotReply) bool {
				if q.Offset > 0 {
					*r = wire.SnapshotReply{}
				}
				return true
			}
		}},
		{"replaced", func(l *library) {
			l.edit = func(q wire.SnapshotRequest, r *wire.SnapshotReply) bool {
				if q.Offset > 0 {
					r.N++
				}
				return true
			}
		}},
		{"another tip", func(l *library) { l.tip[0] ^= 1 }},
		{"tiny", func(l *library) { l.file = l.file[:90] }},
		{"huge", func(l *library) {
			l.edit = func(_ wire.SnapshotRequest, r *wire.SnapshotReply) bool {
				r.Size = 1 << 62
				return true
			}
		}},
		{"a longer head", func(l *library) {
			l.edit = func(_ wire.SnapshotRequest, r *wire.SnapshotReply) bool {
				r.Size += 100
				return true
			}
		}},
		{"damaged", func(l *library) { l.file[len(l.file)-50] ^= 1 }},
		{"damaged head", func(l *library) { l.file[30] ^= 1 }},
		{"a model of 2^40", func(l *library) {
			binary.LittleEndian.PutUint64(l.file[17+48:], 1<<40)
		}},
		{"of record 1 only", func(l *library) { l.hold(l.h.witness(1), replica.History{}) }},
		{"of a record that is not", func(l *library) { l.n = 1 << 40 }},
		{"of another record", func(l *library) {
			l.n, l.tip = 47, wire.HashRecord(l.h.records[46]).Tip()
		}},
		{"of another log", func(l *library) {
			other := newHost(l.h.t, testPlan(small))
			for other.last() < 48 {
				other.commit(1, 2)
			}
			l.hold(other.witness(48), replica.History{})
			l.tip = wire.HashRecord(l.h.records[47]).Tip()
		}},
		{"of another model", func(l *library) { l.file = foreignState(l.h.t, runName, 7) }},
		{"of another run", func(l *library) { l.file = foreignState(l.h.t, "else", small) }},
		{"of another epoch", func(l *library) {
			l.file[17+24]++
			l.resum()
		}},
		{"of another log", func(l *library) {
			plan := digestPlan()
			plan.RunKey = slices.Repeat([]byte{9}, 32)
			other := newHost(l.h.t, plan)
			for other.last() < 48 {
				other.commit()
			}
			l.hold(other.witness(48), replica.History{})
			hash := wire.HashRecord(l.h.records[47])
			l.tip = hash.Tip()
			copy(l.file[17+8:], hash[:])
			l.resum()
		}},
		{"one that the reference denies", lie(func(r *replica.Replica) { r.Params()[3]++ })},
		{"not permitted", func(l *library) {
			l.h.bus.DenyPublish(subjects.Snapshot(runName, "d0"))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := digestPlan()
				h := newHost(t, p)
				for h.last() < last {
					h.commit()
				}
				l := h.library(48)
				l.piece = 300
				tt.set(l)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				d := h.device("d0", bowlLoss(small, 0), horizon)
				h.inForce = (&wire.Announcement{N: last + 1, Epoch: 1, State: wire.Paused,
					Rest: reference(h, 48)}).Append(nil)
				for range 8 {
					h.announce(h.refer(48))
					pass(3 * time.Minute)
				}
				h.agrees(d, h.last())
				if d.Unproven() != 0 {
					t.Errorf("unproven %d, want 0", d.Unproven())
				}
				runtime.ReadMemStats(&after)
				if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
					t.Errorf("%d bytes allocated", grown)
				}
				h.take()
				h.commit()
				h.announce(func(a *wire.Announcement) { a.Attempt = 1 })
				h.one(wire.Contribution)
				if strings.HasPrefix(tt.name, "one that") && d.diverged() != nil {
					t.Error("the device took the snapshot")
				}
				if n := l.pieces(); n > 3*8 {
					t.Errorf("got %d requests for pieces, want an end of them", n)
				}
			})
		})
	}
}

func reference(h *host, n uint64) []byte {
	var a wire.Announcement
	h.refer(n)(&a)
	return a.Rest
}

// If a false snapshot passes the first checks, the next reference detects it, or the end of the run
// at the latest. A device that was killed in between also detects the snapshot.
func TestLyingSnapshot(t *testing.T) {
	for _, end := range []bool{false, true} {
		for _, kept := range []bool{false, true} {
			for _, restart := range []bool{false, true} {
				bubble(t, func(t *testing.T) {
					h, store := newHost(t, digestPlan()), newStore(t)
					d := h.device("d0", bowlLoss(small, 0), horizon, func(c *client.Config) {
						if kept {
							c.Store = store
						}
					})
					h.follow(9)
					for range 40 {
						h.commit()
					}
					l := h.liar(40)
					h.announce()
					if n, digest := d.Digest(); n != h.last() || digest == h.witness(n).Digest() {
						t.Fatalf("record %d: the false snapshot was not taken, want it taken", n)
					}
					if restart && kept {
						d.stop()
						d = h.device("d0", bowlLoss(small, 0), horizon, with(store))
					}
					if end {
						h.end()
						h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
						pass(time.Minute)
						if err := d.result(); err != nil {
							t.Error(err)
						}
					} else {
						h.follow(4)
						h.announce(h.refer(52))
						pass(time.Minute)
					}
					h.agrees(d, h.last())
					if d.Unproven() != 0 {
						t.Errorf("unproven %d, want 0", d.Unproven())
					}
					if end {
						return
					}
					was := len(l.asked)
					for range 40 {
						h.commit()
					}
					h.announce()
					pass(time.Minute)
					h.agrees(d, h.last())
					if len(l.asked) > was {
						t.Error("asked again after a false snapshot")
					}
				})
			}
		}
	}
}

// A device is killed while it proves the last state. The device has not accepted that state as the
// run's.
func TestUnprovenEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, digestPlan()), newStore(t)
		for range 40 {
			h.commit()
		}
		h.liar(40)
		h.end()
		often := func(c *client.Config) { c.CheckpointEvery = 1 }
		h.answers(func(m bus.Message) bool {
			request, err := wire.DecodeCatchUpRequest(m.Data)
			return err == nil && request.From == 2
		})
		d := h.device("d0", bowlLoss(small, 0), horizon, with(store), often)
		over := func(a *wire.Announcement) { a.State = wire.Ended }
		h.announce(over)
		store = d.killed(store) // while the device asks for the log
		h.answers(nil)
		d = h.device("d0", bowlLoss(small, 0), with(store), often)
		h.announce(over)
		pass(time.Minute)
		if err := d.result(); err != nil {
			t.Error(err)
		}
		h.agrees(d, h.last())
	})
}

// After three bad snapshots a device asks for no more.
func TestSnapshotStrikes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, digestPlan())
		for range 40 {
			h.commit()
		}
		l := h.library(30)
		d := h.device("d0", bowlLoss(small, 0), horizon)
		for range 6 {
			l.hold(h.witness(h.last()-2), replica.History{})
			l.file[len(l.file)-1] ^= 1
			h.announce()
			h.agrees(d, h.last())
			for range 40 {
				h.commit()
			}
			pass(2 * time.Minute)
		}
		if n := l.pieces(); n != 3 {
			t.Errorf("%d snapshots were taken, want 3", n)
		}
	})
}
