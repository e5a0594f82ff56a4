package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/wire"
)

// A bowls is a batched bowl.
type bowls struct {
	objective.Objective // its stream
	device              int
	mood                func(x *objective.Points, losses []float64) error // nil: none

	others, calls int
	lengths       []int // of the calls
}

func newBowls(dim, device int) *bowls {
	return &bowls{Objective: bowlStream(dim, device), device: device}
}

func (o *bowls) Loss(context.Context, []float32, objective.Batch) (float64, error) {
	o.others++
	return 0, nil
}

func (o *bowls) LossAt(context.Context, *objective.Point, objective.Batch) (float64, error) {
	o.others++
	return 0, nil
}

func (o *bowls) LossesAt(
	_ context.Context, x *objective.Points, b objective.Batch, losses []float64,
) error {
	o.calls++
	o.lengths = append(o.lengths, len(losses))
	if o.mood != nil {
		return o.mood(x, losses)
	}
	whole := space(x.Len(), x.Dim())
	for end, size := x.Dim(), 1; end > 0; size = size*3%4801 + 1 {
		off := max(0, end-size)
		if err := x.Read(parts(whole, off, end), off); err != nil {
			return err
		}
		end = off
	}
	for i := range losses {
		losses[i] = bowl(whole[i], o.device, b)
	}
	return nil
}

// space returns so many vectors of n elements.
func space(vectors, n int) [][]float32 {
	v := make([][]float32, vectors)
	for i := range v {
		v[i] = make([]float32, n)
	}
	return v
}

// parts returns elements [off, end) of each vector.
func parts(whole [][]float32, off, end int) [][]float32 {
	p := make([][]float32, len(whole))
	for i := range p {
		p[i] = whole[i][off:end]
	}
	return p
}

// A batched objective sends the same bytes as a flat and a streaming one, counts a query for
// each point, and gets no other calls.
func TestBatchedEqualsFlat(t *testing.T) {
	const dim = 9001
	segments := []wire.Segment{
		{Name: "a", Len: 4095, MuScale: 3}, {Name: "b", Len: 2},
		{Name: "c", Len: dim - 4097, MuScale: 0.1},
	}
	for _, difference := range []wire.Difference{wire.Forward, wire.Central} {
		for _, steps := range []uint32{1, 2} {
			for _, dist := range []wire.Distribution{wire.Normal, wire.Rademacher} {
				for _, layout := range [][]wire.Segment{nil, segments} {
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

func batchedEqualsFlat(t *testing.T, dim int, p *wire.Plan) {
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
	if p.Difference == wire.Central {
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

// A faulty batched loss costs that round's contribution, and nothing else.
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
				p.Difference, p.Perturbations = wire.Central, 3
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
					h.commit() // of other devices
				}
				o.mood = nil
				h.round()
				h.announce()
				h.agrees(d, h.last())
			})
		})
	}
}

// A hanging batched loss reads nothing after its round was abandoned.
func TestHangingBatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Difference = wire.Central
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

// A goroutine of the app that keeps points reads those of its step, or nothing. It never reads
// the iterate that the next local step moves.
func TestPointsKeptByGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 1 << 20
		p := testPlan(dim)
		p.Distribution, p.Difference, p.Steps, p.Perturbations = wire.Rademacher, wire.Forward, 2, 1
		h, o := newHost(t, p), newBowls(dim, 0)
		calls, ended := 0, make(chan error, 1)
		keep := func(x *objective.Points, want float32) {
			for got := [][]float32{nil, {0}}; ; {
				if err := x.Read(got, 0); err != nil || got[1][0] != want {
					ended <- err
					return
				}
			}
		}
		o.mood = func(x *objective.Points, losses []float64) error {
			first := space(2, 1)
			if err := x.Read(first, 0); err != nil {
				return err
			}
			losses[0], losses[1] = 1e3*float64(first[0][0]), 1e3*float64(first[1][0])
			if calls++; calls == 1 {
				go keep(x, first[1][0])
			}
			return nil
		}
		d := h.device("d0", o)
		h.round()
		if err := <-ended; !errors.Is(err, objective.ErrRevoked) {
			t.Errorf("a read after the call returned: got %v, want %v", err, objective.ErrRevoked)
		}
		d.stop()
	})
}

// Reads of points stay within the model, and errors say what is wrong.
func TestPoints(t *testing.T) {
	const dim, length = 5000, 4
	inside := func(t *testing.T, x *objective.Points) {
		if x.Dim() != dim || x.Len() != length {
			t.Errorf("Dim() = %d, Len() = %d, want %d and %d", x.Dim(), x.Len(), dim, length)
		}
		uneven := space(length, 2)
		uneven[0], uneven[2] = nil, make([]float32, 3)
		for _, r := range []struct {
			dst  [][]float32
			off  int
			says string
		}{
			{space(length, 1), -1, "of 5000"},
			{space(length, dim+1), 0, "of 5000"},
			{space(length, 1), dim, "of 5000"},
			{space(length, 1), math.MaxInt, "of 5000"},
			{space(length-1, 1), 0, "3 points of 4"},
			{nil, 0, "0 points of 4"},
			{uneven, 0, "2 parameters of point 1 and 3 of point 2"},
		} {
			if err := x.Read(r.dst, r.off); err == nil || !strings.Contains(err.Error(), r.says) {
				t.Errorf("read at %d: got %v, want %q", r.off, err, r.says)
			}
		}
		for _, dst := range [][][]float32{space(length, 0), make([][]float32, length)} {
			if err := x.Read(dst, dim); err != nil {
				t.Errorf("read of nothing at the end: %v", err)
			}
		}
	}
	bubble(t, func(t *testing.T) {
		p := testPlan(dim)
		p.Difference, p.Perturbations = wire.Central, length/2
		h, o := newHost(t, p), newBowls(dim, 0)
		o.mood = func(x *objective.Points, losses []float64) error {
			clear(losses)
			inside(t, x)
			return nil
		}
		h.device("d0", o)
		h.round()
		if o.calls != 1 {
			t.Errorf("%d calls, want 1", o.calls)
		}
	})
}

// Several goroutines of the app read points at once, some of them enough to occupy the workers,
// and all see the same.
func TestPointsOfManyReaders(t *testing.T) {
	const dim, readers = 1<<18 + 5, 4
	bubble(t, func(t *testing.T) {
		p := testPlan(dim)
		p.Perturbations = 3
		h, o := newHost(t, p), newBowls(dim, 0)
		o.mood = func(x *objective.Points, losses []float64) error {
			clear(losses)
			want := space(x.Len(), dim)
			if err := x.Read(want, 0); err != nil {
				return err
			}
			var all sync.WaitGroup
			for reader := range readers {
				all.Go(func() {
					got := space(x.Len(), dim)
					for off, size := 0, dim>>reader; off < dim; off += size {
						if err := x.Read(parts(got, off, min(dim, off+size)), off); err != nil {
							t.Error(err)
						}
					}
					if !slices.EqualFunc(got, want, slices.Equal) {
						t.Errorf("reader %d sees other points", reader)
					}
				})
			}
			all.Wait()
			return nil
		}
		d := h.device("d0", o, func(c *client.Config) { c.Workers = 3 })
		h.round()
		h.announce()
		h.agrees(d, h.last())
	})
}
