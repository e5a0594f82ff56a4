package client_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

const small = 100 // parameters, where the model does not matter

// A moody objective is a bowl, but mood may act first. A moody objective fails the test if two of
// its methods run at once.
type moody struct {
	t    *testing.T
	dim  int
	mood func(ctx context.Context, x []float32) (float64, error) // nil: none

	calls, inside atomic.Int32
	metrics       func(ctx context.Context, x []float32) ([]float64, int, error)
	mayWork       func(objective.Work) bool
	samples       func() int
}

func newMoody(t *testing.T) *moody { return &moody{t: t, dim: small} }

// enter notes that a callback runs until leave is called.
func (m *moody) enter() (leave func()) {
	m.calls.Add(1)
	if n := m.inside.Add(1); n != 1 {
		m.t.Errorf("%d callbacks run at once", n)
	}
	return func() { m.inside.Add(-1) }
}

func (m *moody) Dim() int { return m.dim }

func (m *moody) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	defer m.enter()()
	if m.mood != nil {
		if v, err := m.mood(ctx, x); v != 0 || err != nil {
			return v, err
		}
	}
	return bowl(x, 0, b), nil
}

func (m *moody) Evaluate(ctx context.Context, x []float32) ([]float64, int, error) {
	defer m.enter()()
	if m.metrics == nil {
		return []float64{1}, 1, nil
	}
	return m.metrics(ctx, x)
}

func (m *moody) MayWork(w objective.Work) bool {
	defer m.enter()()
	return m.mayWork == nil || m.mayWork(w)
}

// Samples is no call that costs the app anything, so calls does not count it.
func (m *moody) Samples() int {
	defer m.enter()()
	m.calls.Add(-1)
	if m.samples == nil {
		return 1
	}
	return m.samples()
}

// A faulty loss costs the device its contribution to that round, and nothing else.
func TestFaultyLoss(t *testing.T) {
	errApp := errors.New("out of memory")
	tests := []struct {
		name   string
		mood   func(ctx context.Context, x []float32) (float64, error)
		reason wire.DeclineReason
		says   string
	}{
		{"error", func(context.Context, []float32) (float64, error) { return 0, errApp },
			wire.DeclineLoss, errApp.Error()},
		{"NaN", func(context.Context, []float32) (float64, error) { return math.NaN(), nil },
			wire.DeclineLoss, "NaN"},
		{"Inf", func(context.Context, []float32) (float64, error) { return math.Inf(-1), nil },
			wire.DeclineLoss, "-Inf"},
		{"beyond float32", func(context.Context, []float32) (float64, error) { return 1e39, nil },
			wire.DeclineLoss, "1e+39"},
		{"panic", func(context.Context, []float32) (float64, error) { panic("no such layer") },
			wire.DeclineLoss, "no such layer"},
		{"exit", func(context.Context, []float32) (float64, error) {
			runtime.Goexit()
			return 0, nil
		}, wire.DeclineLoss, "goroutine"},
		{"steep", func(_ context.Context, x []float32) (float64, error) {
			return 1e10 * float64(x[0]), nil
		}, wire.DeclineTooLarge, "by the minibatch's seed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h, o := newHost(t, testPlan(small)), newMoody(t)
				d := h.device("d0", o)
				h.round()
				o.mood = tt.mood
				for range 2 {
					h.announce()
					h.declines(tt.reason)
					p := d.now()
					if p.State != client.Waiting || p.Declined != tt.reason || p.Err == nil ||
						!strings.Contains(p.Err.Error(), tt.says) {
						t.Errorf("progress %+v, want a decline that says %q", p, tt.says)
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

// An objective that other code computes says while that code owes an earlier answer. The device
// declines as it does while a callback in Go hangs, and its Run does not end.
func TestObjectiveOwes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		o.mood = func(context.Context, []float32) (float64, error) {
			return 0, fmt.Errorf("%w: asked a minute ago", objective.ErrBusy)
		}
		d := h.device("d0", o)
		for range 3 {
			h.announce()
			h.declines(wire.DeclineBusy)
			if p := d.now(); p.Err == nil || !strings.Contains(p.Err.Error(), "asked a minute ago") {
				t.Errorf("progress %+v, want what the objective says", p)
			}
			h.commit()
		}
		o.mood = nil
		h.round()
		h.announce()
		h.agrees(d, h.last())
	})
}

// If a loss, evaluator or sampler panics in a later query, or writes into its arguments, the state
// does not change.
func TestLossWritesIntoParameters(t *testing.T) {
	for _, steps := range []uint32{1, 3} {
		bubble(t, func(t *testing.T) {
			p := testPlan(small)
			p.Steps, p.EvalEvery, p.EvalCount, p.Metrics = steps, 1, 1, []string{"m"}
			h, o := newHost(t, p), newMoody(t)
			scribble := func(x []float32) {
				for i := range x {
					x[i] = float32(math.NaN())
				}
			}
			o.metrics = func(_ context.Context, x []float32) ([]float64, int, error) {
				scribble(x)
				return []float64{1}, 1, nil
			}
			clean := h.device("clean", bowlLoss(small, 0))
			d := h.device("d0", objective.Func(small, func(_ context.Context, x []float32,
				b objective.Batch) (float64, error) {
				b.Seed = 0
				v := bowl(x, 0, b)
				scribble(x)
				return v, nil
			}))
			for range 3 {
				replies := h.round()
				if len(replies) != 2 {
					t.Fatalf("got %s, want two contributions", kinds(replies))
				}
			}
			h.announce()
			h.agrees(d, h.last())
			h.agrees(clean, h.last())
		})
	}
}

// A device with a hanging loss takes no part until the loss returns. Run still ends with its
// context, and a second Run continues.
func TestHangingLoss(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		release := make(chan struct{})
		d := h.device("d0", o)
		h.round()
		o.mood = func(context.Context, []float32) (float64, error) {
			<-release
			return 0, errors.New("late")
		}
		h.announce()
		h.silent()
		pass(30 * time.Second)
		h.declines(wire.DeclineTime)
		if p := d.now(); p.Err == nil || !strings.Contains(p.Err.Error(), "see whether the loss hangs") {
			t.Errorf("progress %+v, want both causes", p)
		}
		for range 3 {
			h.commit()
			h.announce()
			h.declines(wire.DeclineBusy)
		}
		if n := o.inside.Load(); n != 1 {
			t.Fatalf("%d callbacks hang, want 1", n)
		}
		d.stop()

		d.run()
		h.announce()
		h.declines(wire.DeclineBusy)
		close(release)
		synctest.Wait()
		o.mood = nil
		h.announce() // again: the device is free, but the loss seems slow
		h.declines(wire.DeclineTime)
		h.commit()
		h.announce()
		h.declines(wire.DeclineTime)
		h.commit()
		h.round()
		h.announce()
		h.agrees(d, h.last())
	})
}

// A streaming loss that reads after the device abandoned its round gets no parameters.
func TestHangingStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		release, late := make(chan struct{}), make(chan error, 1)
		d := h.device("d0", objective.Stream(small, func(_ context.Context, x *objective.Point,
			_ objective.Batch) (float64, error) {
			<-release
			late <- x.Read(make([]float32, small), 0)
			return 0, nil
		}))
		h.announce()
		pass(30 * time.Second)
		h.declines(wire.DeclineTime)
		h.commit()
		close(release)
		if err := <-late; !errors.Is(err, objective.ErrRevoked) {
			t.Errorf("late read: got %v, want %v", err, objective.ErrRevoked)
		}
		d.stop()
	})
}

// If a callback returns a moment after the device abandoned its round, the next round waits only
// for that moment.
func TestLossThatIgnoresItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		d := h.device("d0", o)
		o.mood = func(context.Context, []float32) (float64, error) {
			<-time.After(2 * time.Second)
			return 0, nil
		}
		h.announce()
		pass(time.Second)
		h.commit()
		h.announce() // during the first query
		pass(8 * time.Second)
		if r := h.one(wire.Contribution); r.N != h.last()+1 {
			t.Errorf("got a contribution to record %d, want %d", r.N, h.last()+1)
		}
		d.stop()
	})
}

// A policy and a sampler are callbacks too.
func TestPolicyAndSamples(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Weights, p.Difference = plan.BySamples, plan.Central
		h, o := newHost(t, p), newMoody(t)
		d := h.device("d0", o)

		var asked objective.Work
		o.mayWork = func(w objective.Work) bool { asked = w; return false }
		h.announce()
		h.declines(wire.DeclinePolicy)
		if want := (objective.Work{N: 2, Queries: 4, Left: 30 * time.Second}); asked != want {
			t.Errorf("asked for %+v, want %+v", asked, want)
		}
		h.commit()
		o.mayWork = func(objective.Work) bool { panic("no battery") }
		h.announce()
		h.declines(wire.DeclinePolicy)
		if p := d.now(); !strings.Contains(p.Err.Error(), "no battery") {
			t.Errorf("progress says %v, want the panic", p.Err)
		}
		h.commit()
		o.mayWork = nil

		for _, samples := range []int{-1, 0, 1, 7, 1000, 1001, math.MaxInt} {
			o.samples = func() int { return samples }
			want := uint32(max(1, min(samples, 1000)))
			if r := h.round()[0]; r.Weight != want {
				t.Errorf("%d samples: weight %d, want %d", samples, r.Weight, want)
			}
		}
		o.samples = func() int { panic("no data") }
		h.announce()
		h.declines(wire.DeclineLoss)
	})
}

// Weights are 1 unless the plan has weights=samples.
func TestEqualWeights(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		o.samples = func() int { return 7 }
		h.device("d0", o)
		if r := h.round()[0]; r.Weight != 1 {
			t.Errorf("weight %d, want 1", r.Weight)
		}
	})
}
