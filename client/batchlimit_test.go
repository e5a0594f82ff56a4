package client_test

import (
	"context"
	"math"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/wire"
)

// A sampled objective notes the sizes of the minibatches on which the client asks for losses. told
// is its number of samples.
type sampled struct {
	objective.Flat
	told  int
	sizes map[int]bool
}

func (s *sampled) Samples() int { return s.told }

func (s *sampled) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	s.sizes[b.Size] = true
	return s.Flat.Loss(ctx, x, b)
}

// A device asks its app for no more samples than the app has, or than MaxBatch, whatever the plan
// says.
func TestBatchIsBounded(t *testing.T) {
	for _, tt := range []struct {
		batch       uint32
		told, limit int
		want        int
	}{
		{4, 0, 0, 4},
		{0, 7, 3, 0}, // all of the data
		{math.MaxUint32, 7, 0, 7},
		{7, 7, 0, 7},
		{math.MaxUint32, 100_000, 0, 100_000},
		{math.MaxUint32, 0, 0, 1 << 16},
		{math.MaxUint32, -1, 0, 1 << 16},
		{math.MaxUint32, 0, 1 << 20, 1 << 20},
		{math.MaxUint32, 7, 1 << 20, 7},
		{math.MaxUint32, 7, 3, 3},
		{2, 7, 3, 2},
	} {
		bubble(t, func(t *testing.T) {
			p := testPlan(small)
			p.Batch, p.Steps = tt.batch, 2
			h := newHost(t, p)
			o := &sampled{bowlLoss(small, 0).(objective.Flat), tt.told, map[int]bool{}}
			d := h.device("d0", o, func(c *client.Config) { c.MaxBatch = tt.limit })
			h.announce()
			h.one(wire.Contribution)
			if len(o.sizes) != 1 || !o.sizes[tt.want] {
				t.Errorf("%+v: minibatches of %v", tt, o.sizes)
			}
			d.stop()
		})
	}
}

// The client bounds the minibatches of surveys and surrogates alike. If the objective fails to tell
// its samples, the device declines.
func TestBatchOfOtherWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		surrogatePlan(p)
		p.Batch = math.MaxUint32
		h := newHost(t, p)
		o := &sampled{bowlLoss(small, 0).(objective.Flat), 5, map[int]bool{}}
		d := h.device("d0", o)
		h.denseRound()
		if len(o.sizes) != 1 || !o.sizes[5] {
			t.Errorf("a surrogate: minibatches of %v", o.sizes)
		}
		d.stop()
	})
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		o.samples = func() int { panic("no data") }
		d := h.device("d0", o)
		h.announce()
		h.declines(wire.DeclineLoss)
		d.stop()
	})
}
