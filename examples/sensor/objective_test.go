package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zofl/zofl/client/objective"
)

func batchOf(size int) objective.Batch { return objective.Batch{N: 2, Size: size, Seed: 7} }

func loss(t *testing.T, o *forecastLoss, x []float32, b objective.Batch) float64 {
	t.Helper()
	v, err := o.Loss(t.Context(), x, b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestBatchesAreDrawnAgain(t *testing.T) {
	s := filled(t, 4)
	o, again := newLoss(s), newLoss(s)
	x := randomParams(s.shape, true, rand.New(rand.NewPCG(1, 0)))
	b := batchOf(32)
	first := loss(t, o, x, b)
	if got := loss(t, again, x, b); got != first {
		t.Errorf("the same batch has loss %v, then %v", first, got)
	}
	other := b
	other.N, other.Seed = 3, 8
	if got := loss(t, o, x, other); got == first {
		t.Error("another seed draws the same batch")
	}
	if len(o.batch) != 32 {
		t.Errorf("the batch has %d examples, want 32", len(o.batch))
	}
}

// The window moves on while perturbations are evaluated; the minibatch does not.
func TestBatchStaysForAllPerturbations(t *testing.T) {
	s := filled(t, 4)
	o, b := newLoss(s), batchOf(32)
	x := randomParams(s.shape, true, rand.New(rand.NewPCG(1, 0)))
	before := loss(t, o, x, b)
	put(s, s.window.last+100, 3, 9, 27)
	if after := loss(t, o, x, b); after != before {
		t.Errorf("the loss went from %v to %v within a record", before, after)
	}
}

func TestSizeZeroIsEverything(t *testing.T) {
	s := filled(t, 4)
	o := newLoss(s)
	loss(t, o, make([]float32, o.Dim()), batchOf(0))
	if from, to := s.trainingSlots(); len(o.batch) != int(to-from) {
		t.Errorf("%d examples, want %d", len(o.batch), to-from)
	}
}

func TestNoReadings(t *testing.T) {
	o := newLoss(newStation(configOf(t)))
	if _, err := o.Loss(t.Context(), make([]float32, o.Dim()),
		batchOf(8)); !errors.Is(err, errNoExample) {
		t.Errorf("loss: %v, want errNoExample", err)
	}
	if _, _, err := o.Evaluate(t.Context(), make([]float32, o.Dim())); !errors.Is(err, errNoExample) {
		t.Errorf("evaluation: %v, want errNoExample", err)
	}
}

// A round that ends while the device pauses costs only that round.
func TestPaceEndsWithTheRound(t *testing.T) {
	s := filled(t, 4, "pace = 10h")
	o := newLoss(s)
	o.start = time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.Loss(ctx, make([]float32, o.Dim()), batchOf(8)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the round's end", err)
	}
}

// TestLossFalls descends along exact differences of a small network, as a small fleet does.
func TestLossFalls(t *testing.T) {
	s := filled(t, 4, "model = lags=3 hidden=2")
	o := newLoss(s)
	x := randomParams(s.shape, false, rand.New(rand.NewPCG(3, 0)))
	b := batchOf(0)
	begin := loss(t, o, x, b)
	const mu, step = 1e-2, 0.2
	for range 12 {
		slope := make([]float64, len(x))
		for i := range x {
			keep := x[i]
			x[i] = keep + mu
			up := loss(t, o, x, b)
			x[i] = keep - mu
			slope[i], x[i] = (up-loss(t, o, x, b))/(2*mu), keep
		}
		for i := range x {
			x[i] -= float32(step * slope[i])
		}
	}
	end := loss(t, o, x, b)
	if end > 0.9*begin {
		t.Errorf("loss %v, after 12 steps %v: want a tenth less", begin, end)
	}
	values, samples, err := o.Evaluate(t.Context(), x)
	if err != nil || samples == 0 || len(values) != len(metrics) || values[0] > 0.95*values[1] {
		t.Errorf("held out %v of %d, error %v: want the network better than the last reading",
			values, samples, err)
	}
}

// A plan with an absurd batch draws no more examples than the window has.
func TestBatchIsBoundedByTheWindow(t *testing.T) {
	s := filled(t, 4)
	o := newLoss(s)
	loss(t, o, make([]float32, o.Dim()), batchOf(1<<22))
	if from, to := s.trainingSlots(); len(o.batch)+len(o.free) > int(to-from) {
		t.Errorf("%d examples in memory, want at most %d", len(o.batch)+len(o.free), to-from)
	}
}
