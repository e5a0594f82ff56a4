package client_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// A pairs is a bowl that takes both sides of a difference at once.
type pairs struct {
	client.Objective // its stream
	device           int
	mood             func(x *client.Pair) (plus, minus float64, err error) // nil: none

	singles, calls int
}

func newPairs(dim, device int) *pairs {
	return &pairs{Objective: bowlStream(dim, device), device: device}
}

func (o *pairs) LossAt(ctx context.Context, x *client.Point, b client.Batch) (float64, error) {
	o.singles++
	return o.Objective.(client.Streaming).LossAt(ctx, x, b)
}

func (o *pairs) LossPair(_ context.Context, x *client.Pair, b client.Batch) (plus, minus float64, err error) {
	o.calls++
	if o.mood != nil {
		return o.mood(x)
	}
	above, below := make([]float32, x.Dim()), make([]float32, x.Dim())
	for end, size := x.Dim(), 1; end > 0; size = size*3%4801 + 1 {
		off := max(0, end-size)
		if err := x.Read(above[off:end], below[off:end], off); err != nil {
			return 0, 0, err
		}
		end = off
	}
	return bowl(above, o.device, b), bowl(below, o.device, b), nil
}

// A paired objective sends the bytes that a flat one does, and counts two
// queries a call; forward differences do without pairs.
func TestPairedEqualsFlat(t *testing.T) {
	const dim = 9001
	tests := []struct {
		name string
		edit func(*wire.Plan)
	}{
		{"central", func(*wire.Plan) {}},
		{"K=2", func(p *wire.Plan) { p.Steps = 2 }},
		{"rademacher", func(p *wire.Plan) { p.Distribution = wire.Rademacher }},
		{"segments", func(p *wire.Plan) {
			p.Segments = []wire.Segment{
				{Name: "a", Len: 4095, MuScale: 3}, {Name: "b", Len: 2}, {Name: "c", Len: dim - 4097, MuScale: 0.1},
			}
		}},
		{"forward", func(p *wire.Plan) { p.Difference = wire.Forward }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var frames [2][]byte
			var queries [2]uint64
			paired := newPairs(dim, 1)
			forward := false
			for i, o := range []client.Objective{bowlLoss(dim, 1), paired} {
				bubble(t, func(t *testing.T) {
					p := testPlan(dim)
					p.Difference = wire.Central
					tt.edit(p)
					forward = p.Difference == wire.Forward
					h := newHost(t, p)
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
			}
			if !bytes.Equal(frames[0], frames[1]) {
				t.Errorf("the paired objective sent\n%x, the flat one\n%x", frames[1], frames[0])
			}
			if queries[0] != queries[1] || queries[0] == 0 {
				t.Errorf("the paired objective counts %d queries, the flat one %d", queries[1], queries[0])
			}
			if (paired.calls == 0) != forward || (paired.singles == 0) == forward {
				t.Errorf("%d calls with pairs, %d without", paired.calls, paired.singles)
			}
		})
	}
}

// Whatever a paired loss does, it costs that round's contribution and no more.
func TestFaultyPair(t *testing.T) {
	errApp := errors.New("out of memory")
	tests := []struct {
		name string
		mood func(*client.Pair) (plus, minus float64, err error)
		says string
	}{
		{"error", func(*client.Pair) (float64, float64, error) { return 0, 0, errApp }, errApp.Error()},
		{"NaN above", func(*client.Pair) (float64, float64, error) { return math.NaN(), 0, nil }, "NaN"},
		{"Inf below", func(*client.Pair) (float64, float64, error) { return 0, math.Inf(1), nil }, "+Inf"},
		{"panic", func(*client.Pair) (float64, float64, error) { panic("no such layer") }, "step 0, perturbation 0: panic: no such layer"},
		{"exit", func(*client.Pair) (float64, float64, error) { runtime.Goexit(); return 0, 0, nil }, "goroutine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := testPlan(small)
				p.Difference = wire.Central
				h, o := newHost(t, p), newPairs(small, 0)
				d := h.device("d0", o)
				h.round()
				var kept *client.Pair
				o.mood = func(x *client.Pair) (float64, float64, error) {
					kept = x
					return tt.mood(x)
				}
				for range 2 {
					h.announce()
					h.declines(wire.DeclineLoss)
					if p := d.now(); p.Err == nil || !strings.Contains(p.Err.Error(), tt.says) {
						t.Errorf("progress says %v, want %q", p.Err, tt.says)
					}
					one := make([]float32, 1)
					if err := kept.Read(one, one, 0); !errors.Is(err, client.ErrRevoked) {
						t.Errorf("a read after the call: %v, want %v", err, client.ErrRevoked)
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

// A paired loss that hangs reads nothing once its round was given up.
func TestHangingPair(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Difference = wire.Central
		h, o := newHost(t, p), newPairs(small, 0)
		release, late := make(chan struct{}), make(chan error, 1)
		o.mood = func(x *client.Pair) (float64, float64, error) {
			<-release
			late <- x.Read(make([]float32, small), make([]float32, small), 0)
			return 0, 0, nil
		}
		d := h.device("d0", o)
		h.announce()
		pass(30 * time.Second)
		h.declines(wire.DeclineTime)
		h.commit()
		h.announce()
		h.declines(wire.DeclineBusy)
		close(release)
		if err := <-late; !errors.Is(err, client.ErrRevoked) {
			t.Errorf("late read: got %v, want %v", err, client.ErrRevoked)
		}
		synctest.Wait()
		d.stop()
	})
}

// Reads of a pair stay within the model.
func TestPair(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 5000
		p := testPlan(dim)
		p.Difference = wire.Central
		h, o := newHost(t, p), newPairs(dim, 0)
		o.mood = func(x *client.Pair) (float64, float64, error) {
			if x.Dim() != dim {
				t.Errorf("Dim() = %d, want %d", x.Dim(), dim)
			}
			for _, r := range []struct{ off, n int }{{-1, 1}, {0, dim + 1}, {dim, 1}, {math.MaxInt, 1}} {
				if err := x.Read(make([]float32, r.n), make([]float32, r.n), r.off); err == nil || !strings.Contains(err.Error(), "of 5000") {
					t.Errorf("read of %d at %d: got %v, want an error", r.n, r.off, err)
				}
			}
			if err := x.Read(make([]float32, 2), make([]float32, 3), 0); err == nil || !strings.Contains(err.Error(), "2 and 3") {
				t.Errorf("read of two lengths: got %v, want an error", err)
			}
			if err := x.Read(nil, nil, dim); err != nil {
				t.Errorf("read of nothing at the end: %v", err)
			}
			return 0, 0, nil
		}
		h.device("d0", o)
		h.round()
	})
}

// Several goroutines of the app read a point at once, some of them more than is
// worth the workers, and see what one sees.
func TestPointOfManyReaders(t *testing.T) {
	const dim, readers = 1<<18 + 5, 4
	bubble(t, func(t *testing.T) {
		p := testPlan(dim)
		p.Perturbations = 1
		h := newHost(t, p)
		d := h.device("d0", client.Stream(dim, func(_ context.Context, x *client.Point, _ client.Batch) (float64, error) {
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
