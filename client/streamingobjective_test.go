package client_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// bowlStream reads the parameters in pieces of odd sizes, the last piece first.
func bowlStream(dim, device int) objective.Objective {
	return objective.Stream(dim, func(_ context.Context, x *objective.Point,
		b objective.Batch) (float64, error) {
		flat := make([]float32, x.Dim())
		for end, size := len(flat), 1; end > 0; size = size*3%4801 + 1 {
			off := max(0, end-size)
			if err := x.Read(flat[off:end], off); err != nil {
				return 0, err
			}
			end = off
		}
		return bowl(flat, device, b), nil
	})
}

// A device with a streaming objective sends the same bytes as with a flat one.
func TestStreamingEqualsFlat(t *testing.T) {
	const dim = 9001
	tests := []struct {
		name string
		edit func(*plan.Plan)
	}{
		{"forward", func(*plan.Plan) {}},
		{"central, K=2", func(p *plan.Plan) { p.Difference, p.Steps = plan.Central, 2 }},
		{"rademacher", func(p *plan.Plan) { p.Distribution = plan.Rademacher }},
		{"segments", func(p *plan.Plan) {
			p.Segments = []plan.Segment{
				{Name: "a", Len: 4095, MuScale: 3}, {Name: "b", Len: 2},
				{Name: "c", Len: dim - 4097, MuScale: 0.1},
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var frames [2][]byte
			for i, o := range []objective.Objective{bowlLoss(dim, 1), bowlStream(dim, 1)} {
				bubble(t, func(t *testing.T) {
					p := testPlan(dim)
					tt.edit(p)
					h := newHost(t, p)
					d := h.device("d0", o)
					for range 2 {
						for _, r := range h.round() {
							frames[i] = append(frames[i], r.frame...)
						}
					}
					h.announce()
					h.agrees(d, h.last())
				})
			}
			if !bytes.Equal(frames[0], frames[1]) {
				t.Errorf("the streaming objective sent\n%x, the flat one\n%x", frames[1], frames[0])
			}
		})
	}
}

// The client revokes a point after its call, and reads of a point stay within the model.
func TestPoint(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 5000
		var kept []*objective.Point
		h := newHost(t, testPlan(dim))
		h.device("d0", objective.Stream(dim, func(_ context.Context, x *objective.Point,
			_ objective.Batch) (float64, error) {
			if x.Dim() != dim {
				t.Errorf("Dim() = %d, want %d", x.Dim(), dim)
			}
			for _, r := range []struct{ off, n int }{{-1, 1}, {0, dim + 1}, {dim, 1}, {dim - 1, 2},
				{math.MaxInt, 1}} {
				if err := x.Read(make([]float32, r.n), r.off); err == nil ||
					!strings.Contains(err.Error(), "of 5000") {
					t.Errorf("read of %d at %d: got %v, want an error", r.n, r.off, err)
				}
			}
			if err := x.Read(nil, dim); err != nil {
				t.Errorf("read of nothing at the end: %v", err)
			}
			for _, p := range kept {
				if err := p.Read(make([]float32, 1), 0); !errors.Is(err, objective.ErrRevoked) {
					t.Errorf("read of an earlier call's point: got %v, want %v",
						err, objective.ErrRevoked)
				}
			}
			kept = append(kept, x)
			return 0, nil
		}))
		h.round()
		if err := kept[len(kept)-1].Read(make([]float32, 1), 0); !errors.Is(err,
			objective.ErrRevoked) {
			t.Errorf("read after the round: got %v, want %v", err, objective.ErrRevoked)
		}
		if len(kept) != 3 {
			t.Errorf("got %d calls, want 3", len(kept))
		}
	})
}

// A goroutine of the app that keeps a point reads the vector of that point, or nothing. The
// goroutine never reads the iterate that the next local step moves.
func TestPointKeptByGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 1 << 20
		p := testPlan(dim)
		p.Distribution, p.Difference, p.Steps, p.Perturbations = plan.Rademacher, plan.Forward, 2, 1
		h := newHost(t, p)
		calls, ended := 0, make(chan error, 1)
		keep := func(x *objective.Point, want float32) {
			for got := []float32{0}; ; {
				if err := x.Read(got, 0); err != nil || got[0] != want {
					ended <- err
					return
				}
			}
		}
		d := h.device("d0", objective.Stream(dim, func(_ context.Context, x *objective.Point,
			_ objective.Batch) (float64, error) {
			first := []float32{0}
			if err := x.Read(first, 0); err != nil {
				return 0, err
			}
			if calls++; calls == 2 { // the last of step 0
				go keep(x, first[0])
			}
			return 1e3 * float64(first[0]), nil
		}))
		h.round()
		if err := <-ended; !errors.Is(err, objective.ErrRevoked) {
			t.Errorf("a read after the call returned: got %v, want %v", err, objective.ErrRevoked)
		}
		d.stop()
	})
}

// Several goroutines of the app read a point at once, some of them enough to occupy the workers,
// and all goroutines read the same numbers.
func TestPointOfManyReaders(t *testing.T) {
	const dim, readers = 1<<18 + 5, 4
	bubble(t, func(t *testing.T) {
		p := testPlan(dim)
		p.Perturbations = 1
		h := newHost(t, p)
		d := h.device("d0", objective.Stream(dim, func(_ context.Context, x *objective.Point,
			_ objective.Batch) (float64, error) {
			want := make([]float32, dim)
			if err := x.Read(want, 0); err != nil {
				return 0, err
			}
			var all sync.WaitGroup
			for reader := range readers {
				all.Go(func() {
					got := make([]float32, dim)
					for off, size := 0, dim>>reader; off < dim; off += size {
						if err := x.Read(got[off:min(dim, off+size)], off); err != nil {
							t.Error(err)
						}
					}
					for i := range got {
						if got[i] != want[i] {
							t.Errorf("reader %d sees %v at %d, want %v", reader, got[i], i, want[i])
							return
						}
					}
				})
			}
			all.Wait()
			return 0, nil
		}), func(c *client.Config) { c.Workers = 3 })
		h.round()
		h.announce()
		h.agrees(d, h.last())
	})
}
