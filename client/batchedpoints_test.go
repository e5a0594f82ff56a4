package client_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// A bowls is a batched bowl.
type bowls struct {
	objective.Objective // its stream
	device              int
	mood                func(x *objective.Points, losses []float64) error // nil: none

	others, calls int
	lengths       []int // number of points in each call
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

// space returns the given number of vectors, each of n elements.
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

// A goroutine of the app that keeps points reads the points of its own step, or nothing. The
// goroutine never reads the iterate that the next local step moves.
func TestPointsKeptByGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 1 << 20
		p := testPlan(dim)
		p.Distribution, p.Difference, p.Steps, p.Perturbations = plan.Rademacher, plan.Forward, 2, 1
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
		p.Difference, p.Perturbations = plan.Central, length/2
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

// Several goroutines of the app read points at once, some of them enough to occupy the workers, and
// all goroutines read the same numbers.
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
