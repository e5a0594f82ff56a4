package client_test

import (
	"context"
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

// corrected is the host of a run with control variates of a kind.
func corrected(t *testing.T, control plan.Control) *host {
	p := testPlan(small)
	p.Control, p.Steps, p.Members, p.Target = control, 2, 2, 2
	return newHost(t, p)
}

// asks opens a round and returns the contribution of device 0 and its control variate.
func (h *host) asks(d *device) (reply, wire.ControlVariate) {
	h.t.Helper()
	h.announce()
	r, ok := by(h.take(), wire.Contribution)["d0"]
	if !ok {
		h.t.Fatalf("record %d: no contribution; progress %+v", h.last()+1, d.now())
	}
	v, _ := r.Control()
	return r, v
}

// includes commits a round that includes the given contributions.
func (h *host) includes(in ...reply) { h.conclude(h.aggregate(in)) }

func sameVariate(t *testing.T, when string, got wire.ControlVariate, want reply) {
	t.Helper()
	if got.N != want.N || string(got.Scalars) != string(want.Values) {
		t.Errorf("%s: control variate %v of record %d, want %v of %d",
			when, got.Scalars, got.N, want.Values, want.N)
	}
}

// nobody is a cohort without members.
func nobody(a *wire.Announcement) { a.Cohort.Sampled = 0 }

// A device killed at any time knows its control variate: from the records that it replays, or by
// asking the log for the one record that it did not see.
func TestVariateSurvives(t *testing.T) {
	const n = 5
	for _, tt := range []struct {
		name                   string
		applied, replied, stop bool
		asked                  []uint64 // after the restart
	}{
		{"killed before its record", false, false, false, []uint64{2}},
		{"stopped before its record", false, false, true, nil},
		{"killed after its record", true, false, false, []uint64{2}},
		{"stopped after its record", true, false, true, []uint64{n}},
		{"killed after the next reply", true, true, false, []uint64{2}},
		{"stopped after the next reply", true, true, true, []uint64{n}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h, store := corrected(t, plan.ScaffoldMean), newStore(t)
				d := h.member(0, with(store))
				for range 3 {
					r, _ := h.asks(d)
					h.includes(r)
				}
				r, _ := h.asks(d)
				if r.N != n {
					t.Fatalf("record %d, want %d", r.N, n)
				}
				if tt.applied {
					h.includes(r)
					h.announce(nobody)
				}
				if tt.replied {
					_, v := h.asks(d)
					sameVariate(t, "before", v, r)
				}
				if tt.stop {
					d.stop()
				} else {
					store = d.killed(store)
				}
				if h.last() < n {
					h.includes(r)
				}
				if tt.replied {
					h.commit() // the record does not include d's contribution
				}
				h.asked()
				d = h.member(0, with(store))
				_, v := h.asks(d)
				sameVariate(t, "after the restart", v, r)
				if asked := h.asked(); !slices.Equal(asked, tt.asked) {
					t.Errorf("asked from records %v, want %v", asked, tt.asked)
				}
				h.agrees(d, h.last())
			})
		})
	}
}

// A contribution is no control variate if no record includes it, or if a rollback undid its record.
// The contribution before it is then valid again.
func TestVariateIsLive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := corrected(t, plan.ScaffoldMean)
		d, other := h.member(0), h.member(1)
		var counted []reply
		for range 3 {
			r, _ := h.asks(d)
			h.includes(r)
			counted = append(counted, r)
		}
		h.asks(d)
		h.commit() // without d's contribution
		_, v := h.asks(d)
		sameVariate(t, "not counted", v, counted[2])
		h.rollback(counted[1].N)
		r, v := h.asks(d)
		sameVariate(t, "rolled back", v, counted[1])
		h.includes(r)
		_, v = h.asks(d)
		sameVariate(t, "and on", v, r)
		h.rollback(counted[0].N - 1)
		if _, v = h.asks(d); v.N != 0 {
			t.Errorf("control variate of record %d, want none", v.N)
		}
		h.rollback(counted[2].N) // back to the record of the newest variate
		_, v = h.asks(d)
		sameVariate(t, "back", v, counted[2])
		for range 20 {
			r, _ := h.asks(d)
			h.includes(r)
		}
		h.rollback(counted[2].N)
		if _, v = h.asks(d); v.N != 0 {
			t.Errorf("control variate of record %d, which is longer ago than is kept", v.N)
		}
		h.agrees(d, h.last())
		h.agrees(other, h.last())
	})
}

// If a log lost its tail and has other records in its place, the device drops the control variates
// of the tail, and no others.
func TestVariateOfAnotherLog(t *testing.T) {
	for _, restart := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			h, store := corrected(t, plan.ScaffoldMean), newStore(t)
			d := h.member(0, with(store))
			var counted []reply
			for range 4 {
				r, _ := h.asks(d)
				h.includes(r)
				counted = append(counted, r)
			}
			h.asks(d)
			if restart {
				d.stop()
			}
			h.cut(counted[1].N, 2)
			h.commit(1, 2, 3, 4)
			h.commit(4, 3, 2, 1)
			h.commit()
			if restart {
				d = h.member(0, with(store))
			}
			for range 2 { // before the operator accepts the loss, and afterwards
				for range 3 {
					h.announce()
					pass(time.Minute)
				}
				if h.paused {
					h.accept()
				}
			}
			h.take()
			h.commit()
			_, v := h.asks(d)
			sameVariate(t, "cut", v, counted[1])
			h.agrees(d, h.last())
		})
	}
}

// A snapshot may bring a device past the record of its last contribution. The device then asks the
// log whether that record includes the contribution, and contributes once it knows.
func TestVariateBehindASnapshot(t *testing.T) {
	for _, counts := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			h := corrected(t, plan.ScaffoldMean)
			h.plan.DigestEvery = 8
			h.cut(0, 1)
			h.append(wire.Record{Kind: wire.KindPlan, Plan: h.plan})
			d := h.member(0, horizon)
			first, _ := h.asks(d)
			h.includes(first)
			last, _ := h.asks(d)
			want := first
			if counts {
				h.includes(last)
				want = last
			}
			for h.last() < 42 {
				h.commit()
			}
			h.library(40)
			deaf := true
			h.answers(func(m bus.Message) bool {
				request, err := wire.DecodeCatchUpRequest(m.Data)
				return err == nil && request.From <= 3 && deaf
			})
			h.announce()
			pass(5 * time.Second)
			if p := d.now(); d.Unproven() != 40 || p.State != client.Waiting || p.Err == nil ||
				!strings.Contains(p.Err.Error(), "last contribution") {
				t.Errorf("progress %+v, want an error that says what is not known", p)
			}
			if r := by(h.take(), wire.Contribution); len(r) > 0 {
				t.Error("contributed without knowing its control variate")
			}
			deaf = false
			_, v := h.asks(d)
			sameVariate(t, "behind a snapshot", v, want)
			h.asked()
			h.commit()
			h.asks(d)
			if asked := h.asked(); len(asked) > 0 {
				t.Errorf("asked again, from %v", asked)
			}
		})
	}
}

// If a change lowered the limit on scalars, a device leaves out a control variate above the limit:
// the coordinator would refuse the variate, and the reply with it.
func TestVariateAboveTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o, slope := corrected(t, plan.ScaffoldMean), newMoody(t), 100.0
		o.mood = func(_ context.Context, x []float32) (float64, error) {
			return slope*float64(x[0]) + 1e-300, nil
		}
		d := h.device("d0", o)
		limit := func(value string) {
			var c plan.Change
			if err := planfile.SetChange(&c, "max_scalar", value); err != nil {
				t.Fatal(err)
			}
			h.append(wire.Record{Kind: wire.KindChange, Change: &c})
		}
		large, _ := h.asks(d)
		h.includes(large)
		slope = 0.01
		limit("1")
		if _, v := h.asks(d); v.N != 0 {
			t.Errorf("sent the control variate of record %d, which is above the limit", v.N)
		}
		limit("1000")
		_, v := h.asks(d)
		sameVariate(t, "within the limit", v, large)
	})
}

// A device starts over on another log, and a snapshot brings it past the records of its
// contributions. The device asks the new log about its contributions, and trusts nothing from the
// old log.
func TestVariateOfAnotherLogBehindASnapshot(t *testing.T) {
	for _, tt := range []struct {
		name         string
		lost         int  // contributions that only the first log has
		before, then bool // which log includes the last contribution: the first, the second
	}{
		{"both count it", 1, true, true},
		{"the first counts it", 1, true, false},
		{"the second counts it", 1, false, true},
		{"nothing is left", 2, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := corrected(t, plan.ScaffoldMean)
				h.plan.DigestEvery = 8
				h.restarted(h.plan)
				d := h.member(0, horizon)
				first, _ := h.asks(d)
				h.includes(first)
				last, _ := h.asks(d)
				if tt.before {
					h.includes(last)
				}
				for range 3 {
					h.commit()
				}
				h.announce(nobody)
				h.cut(last.N-uint64(tt.lost), 2)
				want := first
				switch {
				case tt.then:
					h.includes(last)
					want = last
				case tt.lost == 2:
					want = reply{}
				}
				for h.last() < 42 {
					h.commit(1, 2, 3, 4)
				}
				h.library(40)
				for range 3 {
					h.announce(nobody)
					pass(5 * time.Second)
				}
				if d.Unproven() != 40 {
					t.Fatalf("took the snapshot of record %d, want 40", d.Unproven())
				}
				_, v := h.asks(d)
				sameVariate(t, "another log", v, want)
				h.agrees(d, h.last())
			})
		})
	}
}
