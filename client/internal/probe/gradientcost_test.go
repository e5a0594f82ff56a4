package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// Gradients have a pace of their own: the time of a gradient says nothing about the time of a loss.
// A device whose gradient hangs declines until the gradient returns.
func TestPaceOfGradients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slowGradient{slopes: newSlopes(3, 0, 1), takes: 20 * time.Second}
		s := newStepper(t, o, 1, func(*plan.Plan) {})
		s.step(t)
		if s.c.pace != 0 || s.c.gradients.pace != 20*time.Second {
			t.Errorf("pace %v of losses, %v of gradients, want 0, 20s", s.c.pace,
				s.c.gradients.pace)
		}
		one := Calls{Gradients: 1}
		for _, left := range []time.Duration{15, 9, 4} { // each doubt halves the estimate, not the text
			err := s.c.Ready(t.Context(), 3, one, time.Now().Add(left*time.Second))
			if !errors.Is(err, ErrSlow) || !strings.Contains(err.Error(), "1 gradients take 20s") ||
				!strings.Contains(err.Error(), "raise deadline") {
				t.Errorf("%d s are left: %v, want %v", left, err, ErrSlow)
			}
		}
		if err := s.c.Ready(t.Context(), 3, one, time.Now().Add(15*time.Second)); err != nil {
			t.Errorf("after a doubt: %v", err)
		}
		if err := s.c.Ready(t.Context(), 3, Calls{Queries: 100},
			time.Now().Add(time.Second)); err != nil {
			t.Errorf("losses: %v", err)
		}
		if s.c.Stuck() != 0 {
			t.Errorf("stuck for %v, want a gradient that is slow", s.c.Stuck())
		}
		o.takes, o.hangs = time.Hour, true
		over := errors.New("over")
		ctx, cancel := context.WithCancelCause(s.ctx)
		time.AfterFunc(2*time.Minute, func() { cancel(over) })
		if _, err := s.run(ctx); err != over {
			t.Errorf("got %v, want %v", err, over)
		}
		if s.c.gradients.duration(1) < time.Minute || s.c.pace != 0 {
			t.Errorf("a gradient takes %v, a loss %v, want a minute or more, 0",
				s.c.gradients.duration(1), s.c.pace)
		}
		if err := s.c.Ready(t.Context(), 3, one, time.Now().Add(time.Hour)); err != ErrBusy {
			t.Errorf("got %v, want %v", err, ErrBusy)
		}
		<-time.After(time.Hour)
		synctest.Wait()
		err := s.c.Ready(t.Context(), 3, one, time.Now().Add(time.Second))
		if err == nil || !strings.Contains(err.Error(), "or hangs: a call had not returned after 2m0s") {
			t.Errorf("after a call that may have hung: %v", err)
		}
		o.takes = 0
		if err := s.c.Ready(t.Context(), 3, one, time.Now().Add(time.Hour)); err != nil {
			t.Errorf("after the call: %v", err)
		}
		if s.step(t); s.c.Stuck() != 0 {
			t.Errorf("stuck for %v after a call that was quick", s.c.Stuck())
		}
	})
}

// The time of a gradient includes the time of its projection. For many directions, the projection
// takes longer than the gradient.
func TestPaceIncludesProjection(t *testing.T) {
	const tries = 20 // the machine may stop the test at any point
	f := newSlopes(7*prng.BlockLen, 0, 1)
	for range tries {
		s := newStepper(t, quiet{f}, 1, func(p *plan.Plan) { p.Perturbations = 300 })
		s.a.Perturbations = 300
		begun := time.Now()
		if _, err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.c.gradients.pace > time.Since(begun)/2 {
			return
		}
	}
	t.Errorf("the pace is less than half of the time of a round, %d times", tries)
}

// lasted counts time after a call as if it were part of the call.
func TestLasted(t *testing.T) {
	var whole, parts meter
	for _, d := range []time.Duration{80, 8000, 16, 160} {
		whole.took(8 * d)
		parts.took(3 * d)
		parts.lasted(5 * d)
		if diff := whole.pace - parts.pace; diff < -4 || diff > 4 || whole.queries != parts.queries {
			t.Errorf("in parts %v, as a whole %v", parts.pace, whole.pace)
		}
	}
}

// The app's policy learns that the round needs gradients.
func TestPolicyOfGradients(t *testing.T) {
	o := &choosy{graded: &graded{slopes: newSlopes(3, 0, 1)}}
	s := newStepper(t, o, 1, func(p *plan.Plan) { p.Steps = 4 })
	task := s.task()
	err := s.c.Ready(t.Context(), task.N, s.c.Calls(s.r.Plan(), &task), time.Now().Add(time.Hour))
	if err != nil || o.work.Gradients != 4 || o.work.Queries != 0 || o.work.N != task.N {
		t.Errorf("asked %+v, %v, want 4 gradients", o.work, err)
	}
	if got := s.c.Usual(s.r); got != (Calls{Gradients: 4}) {
		t.Errorf("a usual round takes %v", got)
	}
}

// BenchmarkProject measures the derivatives along 100 directions, from a gradient.
func BenchmarkProject(b *testing.B) {
	const perturbations = 100
	for _, dim := range []int{28_938, 1_206_590} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("d=%d/workers=%d", dim, workers), func(b *testing.B) {
				f := &slopes{curve: make([]float64, dim), center: make([]float64, dim)}
				s := newStepper(b, &graded{slopes: f}, workers, func(*plan.Plan) {})
				e := s.c.estimation(s.r, &Task{N: 2, Steps: 1, Perturbations: perturbations},
					scalars{})
				d := &s.c.slopes
				d.g = make([]float32, dim)
				if err := d.projector.Begin(s.r.Plan(), s.r.Params(), d.g); err != nil {
					b.Fatal(err)
				}
				e.ctx, e.place = b.Context(), place{n: 2}
				for b.Loop() {
					if err := e.project(perturbations); err != nil {
						b.Fatal(err)
					}
				}
				elements := float64(perturbations) * float64(dim) * float64(b.N)
				b.ReportMetric(elements/b.Elapsed().Seconds()/1e6, "M-elements/s")
			})
		}
	}
}

// Once a step with a gradient has its buffers, it allocates little: the layout of the plan.
func TestGradientStepAllocatesLittle(t *testing.T) {
	f := newSlopes(9*prng.BlockLen, 0, 1)
	s := newStepper(t, quiet{f}, 2, func(*plan.Plan) {})
	if got := testing.AllocsPerRun(20, func() { s.step(t) }); got > 2 {
		t.Errorf("%v allocations", got)
	}
}
