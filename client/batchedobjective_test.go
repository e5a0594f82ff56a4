package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A device with a batched objective sends the same bytes as with a flat or a streaming objective,
// and counts a query for each point. The client makes no other calls of the objective.
func TestBatchedEqualsFlat(t *testing.T) {
	const dim = 9001
	segments := []plan.Segment{
		{Name: "a", Len: 4095, MuScale: 3}, {Name: "b", Len: 2},
		{Name: "c", Len: dim - 4097, MuScale: 0.1},
	}
	for _, difference := range []plan.Difference{plan.Forward, plan.Central} {
		for _, steps := range []uint32{1, 2} {
			for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher} {
				for _, layout := range [][]plan.Segment{nil, segments} {
					t.Run(fmt.Sprintf("%v, K=%d, %v, %d segments", difference, steps, dist,
						len(layout)), func(t *testing.T) {
						p := testPlan(dim)
						p.Difference, p.Steps, p.Distribution, p.Segments = difference, steps, dist,
							layout
						batchedEqualsFlat(t, dim, p)
					})
				}
			}
		}
	}
}

func batchedEqualsFlat(t *testing.T, dim int, p *plan.Plan) {
	var frames [3][]byte
	var queries [3]uint64
	batched := newBowls(dim, 1)
	for i, o := range []objective.Objective{bowlLoss(dim, 1), bowlStream(dim, 1), batched} {
		bubble(t, func(t *testing.T) {
			plan := *p
			h := newHost(t, &plan)
			d := h.device("d0", o)
			for range 2 {
				for _, r := range h.round() {
					frames[i] = append(frames[i], r.frame...)
				}
			}
			h.announce()
			h.agrees(d, h.last())
			queries[i] = d.now().Queries
		})
		if !bytes.Equal(frames[0], frames[i]) {
			t.Errorf("objective %d sent\n%x, the flat one\n%x", i, frames[i], frames[0])
		}
		if queries[0] != queries[i] || queries[0] == 0 {
			t.Errorf("objective %d counts %d queries, the flat one %d", i, queries[i], queries[0])
		}
	}
	if want := 3 * int(p.Steps); batched.calls != want || batched.others != 0 {
		t.Errorf("%d calls of LossesAt and %d others, want %d and 0",
			batched.calls, batched.others, want)
	}
	points := 1 + int(p.Perturbations)
	if p.Difference == plan.Central {
		points = 2 * int(p.Perturbations)
	}
	for _, n := range batched.lengths {
		if n != points {
			t.Errorf("a call of %d points, want %d", n, points)
		}
	}
}

// losing returns a mood that sets all losses to 0 except one.
func losing(i int, loss float64) func(*objective.Points, []float64) error {
	return func(_ *objective.Points, losses []float64) error {
		clear(losses)
		losses[i] = loss
		return nil
	}
}

// A faulty batched loss costs the device its contribution to that round, and nothing else.
func TestFaultyBatch(t *testing.T) {
	errApp := errors.New("out of memory")
	tests := []struct {
		name string
		mood func(*objective.Points, []float64) error
		says string
	}{
		{"error", func(*objective.Points, []float64) error { return errApp }, "losses at step 0: " +
			errApp.Error()},
		{"NaN above", losing(4, math.NaN()), "NaN at step 0, perturbation 2"},
		{"Inf below", losing(3, math.Inf(1)), "+Inf at step 0, perturbation 1"},
		{"nothing set", func(*objective.Points, []float64) error { return nil },
			"NaN at step 0, perturbation 0"},
		{"panic", func(*objective.Points, []float64) error { panic("no such layer") },
			"losses at step 0: panic: no such layer"},
		{"exit", func(*objective.Points, []float64) error { runtime.Goexit(); return nil },
			"goroutine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := testPlan(small)
				p.Difference, p.Perturbations = plan.Central, 3
				h, o := newHost(t, p), newBowls(small, 0)
				d := h.device("d0", o)
				h.round()
				var kept *objective.Points
				o.mood = func(x *objective.Points, losses []float64) error {
					kept = x
					return tt.mood(x, losses)
				}
				for range 2 {
					h.announce()
					h.declines(wire.DeclineLoss)
					if p := d.now(); p.Err == nil || !strings.Contains(p.Err.Error(), tt.says) {
						t.Errorf("progress says %v, want %q", p.Err, tt.says)
					}
					if err := kept.Read(space(6, 1), 0); !errors.Is(err, objective.ErrRevoked) {
						t.Errorf("a read after the call: %v, want %v", err, objective.ErrRevoked)
					}
					h.commit() // by other devices
				}
				o.mood = nil
				h.round()
				h.announce()
				h.agrees(d, h.last())
			})
		})
	}
}

// A hanging batched loss reads nothing after the device abandoned its round.
func TestHangingBatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Difference = plan.Central
		h, o := newHost(t, p), newBowls(small, 0)
		release, late := make(chan struct{}), make(chan error, 1)
		o.mood = func(x *objective.Points, _ []float64) error {
			<-release
			late <- x.Read(space(x.Len(), small), 0)
			return nil
		}
		d := h.device("d0", o)
		h.announce()
		pass(30 * time.Second)
		h.declines(wire.DeclineTime)
		h.commit()
		h.announce()
		h.declines(wire.DeclineBusy)
		close(release)
		if err := <-late; !errors.Is(err, objective.ErrRevoked) {
			t.Errorf("late read: got %v, want %v", err, objective.ErrRevoked)
		}
		synctest.Wait()
		d.stop()
	})
}
