package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A device killed between the phases continues with its stored contribution to phase 1, or computes
// the same numbers again. A device that phase 1 did not ask computes these numbers, too.
func TestPhases(t *testing.T) {
	for _, difference := range []plan.Difference{plan.Forward, plan.Central} {
		var want [2]reply // of the first case
		for i, tt := range []struct {
			name   string
			asked  bool // by phase 1
			killed bool
			stored bool // the store survives the process
			again  bool // the device estimates the first phase in the second
		}{
			{"all the time there", true, false, true, false},
			{"not asked", false, false, true, true},
			{"killed", true, true, true, false},
			{"store lost", true, true, false, true},
		} {
			t.Run(fmt.Sprint(tt.name, ", ", difference), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					h, store := corrected(t, plan.ScaffoldPoint), newStore(t)
					h.plan.Difference, h.plan.Perturbations, h.plan.Steps = difference, 3, 4
					h.plan = h.restarted(h.plan)
					o := newMoody(t)
					var work objective.Work
					o.mayWork = func(w objective.Work) bool { work = w; return true }
					d := h.device("d0", o, with(store))
					h.round()
					h.round()
					h.announce(nobody)
					if p := d.now(); p.Phase != 1 || p.Round != 1 {
						t.Errorf("progress %+v, want phase 1 after round 1", p)
					}
					var first reply
					if tt.asked {
						first, _ = h.asks(d)
						if q := h.plan.PhaseQueries(1, 3); work.Queries != q ||
							first.Values.Len() != 3 || len(first.Rest) > 0 {
							t.Errorf("phase 1: got %d queries, %d scalars and %x after them, "+
								"want %d queries and 3 scalars",
								work.Queries, first.Values.Len(), first.Rest, q)
						}
					}
					h.commit()
					h.announce(nobody)
					if p := d.now(); p.Phase != 2 || p.Round != 1 {
						t.Errorf("progress %+v, want phase 2 after round 1", p)
					}
					if tt.killed {
						d.stop()
						if !tt.stored {
							store = newStore(t)
						}
						d = h.device("d0", o, with(store))
					}
					calls := o.calls.Load()
					second, v := h.asks(d)
					queries := h.plan.PhaseQueries(2, 3)
					if tt.again {
						queries += h.plan.PhaseQueries(1, 3)
					}
					// The policy is a callback, too.
					if made := uint64(o.calls.Load()-calls) - 1; work.Queries != queries ||
						made != queries {
						t.Errorf("phase 2: the policy got %d queries, the loss %d, want %d",
							work.Queries, made, queries)
					}
					if i == 0 {
						want = [2]reply{first, second}
					}
					sameVariate(t, tt.name, v, want[0])
					if string(second.Values) != string(want[1].Values) {
						t.Errorf("sent %v, want %v", second.Values, want[1].Values)
					}
					h.includes(second)
					h.announce(nobody)
					h.agrees(d, h.last())
				})
			})
		}
	}
}

// restarted makes p the plan at the beginning of the log.
func (h *host) restarted(p *plan.Plan) *plan.Plan {
	h.plan = p
	h.cut(0, h.epoch)
	h.append(wire.Record{Kind: wire.KindPlan, Plan: p})
	return p
}

// Phase 2 has as many perturbations as its own announcement says. The control variate has as many
// as the announcement of phase 1 said.
func TestPerturbationsBetweenPhases(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := corrected(t, plan.ScaffoldPoint)
		d := h.member(0)
		first, _ := h.asks(d)
		h.includes(first)
		h.announce(func(a *wire.Announcement) { a.Perturbations = 5 })
		second := h.one(wire.Contribution)
		v, _ := second.Control()
		sameVariate(t, "another P", v, first)
		if n := second.Values.Len(); n != 2*5 {
			t.Errorf("%d scalars, want 2 steps of 5", n)
		}
		d.stop()
	})
}

// After a rollback to a record between the phases, or before them, the phase that is then due
// follows.
func TestRollbackBetweenPhases(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := corrected(t, plan.ScaffoldPoint)
		d := h.member(0)
		var all []reply
		for range 4 {
			r, _ := h.asks(d)
			h.includes(r)
			all = append(all, r)
		}
		h.rollback(all[2].N) // the first phase of round 2
		r, v := h.asks(d)
		sameVariate(t, "between", v, all[2])
		if r.Values.Len() != 4 {
			t.Errorf("%d scalars in phase 2", r.Values.Len())
		}
		h.rollback(all[1].N)
		if r, v = h.asks(d); v.N != 0 || r.Values.Len() != 2 {
			t.Errorf("%d scalars and a control variate of record %d, want a first phase",
				r.Values.Len(), v.N)
		}
		h.includes(r)
		_, v = h.asks(d)
		sameVariate(t, "after", v, r)
	})
}

// A contribution to phase 1 of another log belongs to another model: in phase 2 the device
// computes its scalars anew.
func TestPhaseOfAnotherLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := corrected(t, plan.ScaffoldPoint), newMoody(t)
		var work objective.Work
		o.mayWork = func(w objective.Work) bool { work = w; return true }
		d := h.device("d0", o)
		h.round()
		h.round()
		first, _ := h.asks(d)
		h.cut(first.N-2, 2)
		h.commit(7, 7, 7, 7) // phase 2 of round 1 has another result
		h.commit()
		for range 3 {
			h.announce(nobody)
			pass(5 * time.Second)
		}
		h.accept()
		for range 3 {
			h.announce(nobody)
			pass(5 * time.Second)
		}
		_, v := h.asks(d)
		if want := h.plan.PhaseQueries(1, 2) + h.plan.PhaseQueries(2, 2); work.Queries != want {
			t.Errorf("the policy got %d queries, want %d for both phases", work.Queries, want)
		}
		if v.N != first.N || string(v.Scalars) == string(first.Values) {
			t.Errorf("control variate %v of record %d, want others than %v of %d",
				v.Scalars, v.N, first.Values, first.N)
		}
		h.agrees(d, h.last())
	})
}

// If the scalars of phase 1, computed in phase 2, have a fault, the device declines as usual.
func TestMissedPhaseFails(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name   string
		mood   func(context.Context, []float32) (float64, error)
		reason wire.DeclineReason
	}{
		{"the loss fails", func(context.Context, []float32) (float64, error) { return 0, broken },
			wire.DeclineLoss},
		{"a scalar is too large", func(_ context.Context, x []float32) (float64, error) {
			return 1e12 * float64(x[0]), nil
		}, wire.DeclineTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h, o := corrected(t, plan.ScaffoldPoint), newMoody(t)
				d := h.device("d0", o)
				h.commit()
				o.mood = tt.mood
				h.announce()
				h.declines(tt.reason)
				o.mood = nil
				h.announce(func(a *wire.Announcement) { a.Attempt++ })
				r := h.one(wire.Contribution)
				if v, ok := r.Control(); !ok || v.N != 2 {
					t.Errorf("control variate %v of record %d, want 2", v.Scalars, v.N)
				}
				d.stop()
			})
		})
	}
}

// A device with directions of its own sends the same bytes, however its objective reads parameters.
func TestMethodsByAnyObjective(t *testing.T) {
	const dim = 9001
	for _, tt := range methods {
		t.Run(tt.name, func(t *testing.T) {
			var frames [3][]string
			for i, o := range []objective.Objective{bowlLoss(dim, 1), bowlStream(dim, 1),
				newBowls(dim, 1)} {
				bubble(t, func(t *testing.T) {
					p := testPlan(dim)
					tt.edit(p)
					h := newHost(t, p)
					h.entrust()
					h.device("other", bowlLoss(dim, 2), h.key).stop() // so that slot 0 is another's
					d := h.device("d0", o, h.key, func(c *client.Config) { c.Workers = 1 + i })
					for range 5 {
						frames[i] = append(frames[i], string(h.round()[0].frame))
					}
					h.announce()
					h.agrees(d, h.last())
				})
			}
			if !slices.Equal(frames[0], frames[1]) || !slices.Equal(frames[0], frames[2]) {
				t.Errorf("flat %x\nstream %x\nbatched %x", frames[0], frames[1], frames[2])
			}
		})
	}
}

// With cohort=round both phases ask the same devices. Without it, each record draws its own cohort.
func TestPhasesOfOneCohort(t *testing.T) {
	for _, kept := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			const devices, sampled, rounds = 8, 3, 4
			p := testPlan(small)
			p.Control, p.Steps, p.Members, p.Target = plan.ScaffoldPoint, 2, devices, sampled
			if kept {
				p.Cohort = 1
			}
			h := newHost(t, p)
			for i := range devices {
				h.device(string(rune('a'+i)), newMoody(t))
			}
			phase := func() (list []string) {
				h.announce(func(a *wire.Announcement) { a.Cohort.Sampled = sampled })
				replies := h.take()
				for _, r := range replies {
					list = append(list, r.id)
				}
				slices.Sort(list)
				if len(list) != sampled {
					t.Fatalf("got %s, want %d contributions", kinds(replies), sampled)
				}
				h.commit()
				return list
			}
			same, asked := 0, map[string]bool{}
			for range rounds {
				first := phase()
				if slices.Equal(first, phase()) {
					same++
				}
				asked[fmt.Sprint(first)] = true
			}
			if kept != (same == rounds) || len(asked) == 1 {
				t.Errorf("kept=%v: %d of %d rounds asked one cohort, of %v", kept, same, rounds, asked)
			}
		})
	}
}
